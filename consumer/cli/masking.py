"""Addresses as they are shown: what a command printed is soon in a ticket."""

from __future__ import annotations


def masked(address: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}***@{domain}"
