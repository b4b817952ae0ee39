"""Secrets as Kubernetes mounts them: each file is a link through `..data`, which is swapped."""

from __future__ import annotations

from pathlib import Path


class Mount:
    """`mount(token="new")` replaces all files at once, as the kubelet does."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._number = 0

    def __call__(self, **secrets: str) -> None:
        self._number += 1
        stand = self.folder / f"..{self._number}"
        stand.mkdir()
        for name, text in secrets.items():
            (stand / name).write_text(text)
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(f"..data/{name}")
        fresh = self.folder / "..data_tmp"
        fresh.symlink_to(stand.name)
        fresh.replace(self.folder / "..data")

    def path(self, name: str) -> str:
        return str(self.folder / name)
