"""The real clock, real chance, and what this process is called among all others.

Promises: an identity names one process and no later one that got the same number; `is_alive` says
False only of a process that has certainly ended. Does not promise: to know anything about another
machine, another container or an earlier boot: that is None, and a lease has to lapse.
Used by `stores` as their default clock, ids and host; tests give others (`caesura.testing`).
"""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1000

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)


class SystemIds:
    """The machine's source of chance; safe to share with a forked child."""

    def new(self) -> str:
        return os.urandom(16).hex()

    def chance(self) -> float:
        return (int.from_bytes(os.urandom(7), "big") >> 3) / 2**53


class _Process(NamedTuple):
    """What tells one process from every other: the same in all of its threads."""

    boot: str
    namespace: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.boot}:{self.namespace}:{self.pid}:{self.started}"

    @classmethod
    def parse(cls, identity: str) -> _Process | None:
        parts = identity.split(":")
        if len(parts) != 4 or not parts[2].isdecimal():
            return None
        return cls(parts[0], parts[1], int(parts[2]), parts[3])


class SystemHost:
    """This machine's processes."""

    def __init__(self) -> None:
        self._own: _Process | None = None

    def identity(self) -> str:
        return str(self._process())

    def is_alive(self, identity: str) -> bool | None:
        own, other = self._process(), _Process.parse(identity)
        if other is None:
            return None
        if other == own:
            return True
        if (other.boot, other.namespace) != (own.boot, own.namespace):
            # Another machine, an earlier boot of this one, or a container beside ours. Machines
            # cloned from one image cannot be told from one that was started again.
            return None
        if other.pid == own.pid:
            return False
        started = _start_of(other.pid)
        if started is None:
            return _is_there(other.pid)
        return started == other.started

    def _process(self) -> _Process:
        pid = os.getpid()
        if self._own is None or self._own.pid != pid:  # the first time, and again after a fork
            self._own = _Process(_boot(), _namespace(), pid, _start_of(pid) or "unknown")
        return self._own


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        # Without /proc the name of the machine must do: a start time is precise enough to tell
        # its boots apart.
        import platform

        return "host-" + platform.node().replace(":", "-").replace("/", "-")


def _namespace() -> str:
    """Process numbers mean something only within their namespace (a container has its own)."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"


def _start_of(pid: int) -> str | None:
    """When a process started, as this system says it; "ended" for a zombie; None: cannot tell."""
    return _start_by_proc(pid) if os.path.isdir("/proc/self") else _start_by_ps(pid)


def _start_by_proc(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in brackets may itself hold brackets and spaces.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return "ended" if fields[0] in (b"Z", b"X", b"x") else fields[19].decode()


def _start_by_ps(pid: int) -> str | None:
    import subprocess

    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, timeout=5, env={**os.environ, "LC_ALL": "C"}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip().replace(":", ".").replace(" ", "-") or None


def _is_there(pid: int) -> bool | None:
    """Of a process whose start cannot be read: False when there is none; otherwise unknown."""
    if sys.platform == "win32":
        return None  # signal 0 would not ask there, it would interrupt
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return None
    return None
