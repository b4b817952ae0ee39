"""Exit codes with a name. Imports nothing: the first second of a command stands on it."""

from typing import Final

STOPPED: Final = 130  # what a shell says of a command that Ctrl-C ended
