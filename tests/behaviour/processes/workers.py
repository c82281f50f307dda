"""A real process that a test starts, listens to, speaks to and kills."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PATIENCE_S = 30.0  # only ever waited in full by a test that fails


class Worker:
    """A process that runs `worker.py`; its lines can be read as they come, within bounds."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-u", str(HERE / "worker.py"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def next_line(self) -> str | None:
        """The next line that it prints; None when it has ended."""
        try:
            return self._lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            self.kill()
            pytest.fail(f"The process said nothing for {PATIENCE_S} s. {self.complaint()}")

    def wait_for(self, line: str) -> None:
        while (said := self.next_line()) != line:
            assert said is not None, f"It ended before it said {line!r}. {self.complaint()}"

    def tell(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def outcome(self) -> dict[str, Any]:
        """What became of it: {"ok": notes} or {"error": name, "message": text}."""
        last = None
        while (line := self.next_line()) is not None:
            last = line
        self._process.wait(timeout=PATIENCE_S)
        if last is None or not last.startswith("{"):
            pytest.fail(self.complaint())
        outcome: dict[str, Any] = json.loads(last)
        return outcome

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL, and wait until the system has forgotten it."""
        self._process.kill()
        self._process.wait(timeout=PATIENCE_S)

    def complaint(self) -> str:
        self.kill()
        assert self._process.stderr is not None
        return "It wrote to stderr: " + self._process.stderr.read()

    def dispose(self) -> None:
        self.kill()
        self._reader.join(timeout=PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # it died with a line unread


StartWorker = Callable[..., Worker]
