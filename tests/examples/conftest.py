"""Runs the example programs as a newcomer would: in a process, from the terminal or a pipe.

Promises: the child finds the same caesura as this process, and no child outlives its test.
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import caesura

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE_S = 50.0


class Ended(NamedTuple):
    """How a program ended and what it showed, both streams together."""

    code: int
    text: str


def environment(**more: str) -> dict[str, str]:
    source = str(Path(str(caesura.__file__)).parents[1])
    given = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([source, *([given] if given else [])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture(scope="session")
def piped() -> Callable[..., Ended]:
    def run(program: str, *arguments: str, typed: str = "") -> Ended:
        done = subprocess.run(
            [sys.executable, program, *arguments],
            cwd=CHECKOUT,
            env=environment(),
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ended(done.returncode, done.stdout)

    return run


@pytest.fixture(scope="session")
def at_a_terminal() -> Callable[..., Ended]:
    """Runs a program on a pseudo-terminal and types a line whenever its prompt appears."""

    def run(program: str, *arguments: str, replies: Mapping[str, list[str]]) -> Ended:
        waiting = {prompt: list(lines) for prompt, lines in replies.items()}
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, program, *arguments],
            cwd=CHECKOUT,
            env=environment(TERM="xterm"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown, answered_upto = b"", 0
        give_up = time.monotonic() + PATIENCE_S
        try:
            while time.monotonic() < give_up:
                ready, _, _ = select.select([ours], [], [], 0.2)
                if not ready:
                    continue
                try:
                    chunk = os.read(ours, 4096)
                except OSError:  # Linux says so when the program has closed its side
                    break
                if not chunk:
                    break
                shown += chunk
                for prompt, lines in waiting.items():
                    place = shown.find(prompt.encode(), answered_upto)
                    if place >= 0 and lines:
                        answered_upto = place + len(prompt.encode())
                        os.write(ours, lines.pop(0).encode() + b"\n")
            return Ended(process.wait(5), shown.decode().replace("\r\n", "\n"))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(ours)

    return run
