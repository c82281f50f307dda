"""What can be seen of a SQLite store from outside: its transactions, its waiting for the disk."""

from __future__ import annotations

import sqlite3
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def transactions(database: Path) -> int:
    """How many the write-ahead log holds: those of its frames that end one."""
    log = Path(f"{database}-wal").read_bytes()
    if not log:
        return 0
    page_bytes, salts = struct.unpack(">I", log[8:12])[0], log[16:24]
    frames = (log[at : at + 24] for at in range(32, len(log), 24 + page_bytes))
    return sum(frame[8:16] == salts and frame[4:8] != b"\0\0\0\0" for frame in frames)


class Connections:
    """The real connections that were opened since this watches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[sqlite3.Connection] = []
        connect = sqlite3.connect

        def watched(*args: Any, **options: Any) -> sqlite3.Connection:
            self.opened.append(connect(*args, **options))
            return self.opened[-1]

        monkeypatch.setattr(sqlite3, "connect", watched)

    def waits_for_the_disk(self) -> bool:
        """Whether the connection that writes, the first to be opened, does so at each commit."""
        (level,) = self.opened[0].execute("pragma synchronous").fetchone()
        return bool(level >= 2)


def run(program: str, *arguments: object) -> str:
    """What a Python program of its own process printed."""
    return finish(start(program, *arguments))


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-u", "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    said, complaint = process.communicate(timeout=50)
    assert process.returncode == 0, complaint
    sys.stderr.write(complaint)  # pytest shows it when what was said is not as expected
    return said
