"""A file that appears whole or not at all, and a folder that keeps its name when the power goes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes, *, check: Callable[[], None] = lambda: None) -> None:
    """Write a file beside, bring it to disk, and put it where it belongs; a check may still refuse just before that."""
    beside = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check()
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Bring a new name in a folder to disk; where folders cannot be opened, the system does so by itself."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
