"""Make the virtual environments of the checkout what the lock files say.

Promises: `.venv` (the lowest supported Python: tests, lint, benchmarks) and `.venv-3.12`, ...
(tests only) hold exactly the locked, hashed packages and the library itself, editable; nothing is
done when they do already. Two calls at once wait for each other.
Called by every make target: `python3 scripts/environments.py [main|all]`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from find_python import SUPPORTED, find_interpreters
from find_uv import ROOT, TOOLS, find_uv, say

LOCKS = ROOT / "requirements"
MAIN_LOCKS = ("test", "build", "lint", "bench")
OTHER_LOCKS = ("test", "build")


class Environment(NamedTuple):
    """One virtual environment: where it is, whose it is, what belongs in it."""

    version: str
    interpreter: Path
    folder: Path
    locks: tuple[str, ...]

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


def environments() -> list[Environment]:
    """All environments that this machine's interpreters allow, the main one first."""
    found = find_interpreters()
    if not found:
        sys.exit(f"No Python of {', '.join(SUPPORTED)} runs here; install one of them.")
    return [
        Environment(version, path, ROOT / f".venv-{version}", OTHER_LOCKS)
        if position
        else Environment(version, path, ROOT / ".venv", MAIN_LOCKS)
        for position, (version, path) in enumerate(found.items())
    ]


def prepare(environment: Environment) -> None:
    """Bring one environment to what its lock files say, if it is not there yet."""
    with _one_at_a_time():
        wanted = _fingerprint(environment)
        stamp = environment.folder / "prepared"
        if stamp.is_file() and stamp.read_text() == wanted and environment.python.exists():
            return
        say(f"preparing {environment.folder.name} (Python {environment.version})")
        stamp.unlink(missing_ok=True)
        uv = find_uv()
        if not _is_of(environment.python, environment.version):
            _run(uv, "venv", "--clear", "--python", environment.interpreter, environment.folder)
        into = ("--python", environment.python)
        locks = [LOCKS / f"{name}.txt" for name in environment.locks]
        _run(uv, "pip", "sync", *into, "--require-hashes", *locks)
        # Its build tool came with the locks: an isolated build would fetch an unlocked one.
        _run(uv, "pip", "install", *into, "--no-deps", "--no-build-isolation", "-e", ROOT)
        stamp.write_text(wanted)


def _fingerprint(environment: Environment) -> str:
    parts = [str(ROOT).encode(), (ROOT / "pyproject.toml").read_bytes()]
    parts += [(LOCKS / f"{name}.txt").read_bytes() for name in environment.locks]
    return f"{environment.version} {hashlib.sha256(bytes(1).join(parts)).hexdigest()}\n"


def _is_of(python: Path, version: str) -> bool:
    if not python.exists():
        return False
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-I", "-c", question], capture_output=True, text=True)
    return done.stdout.strip() == version


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    quiet = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": ""}
    done = subprocess.run([words[0], "--quiet", *words[1:]], env=quiet, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"this failed: {' '.join(words)}")


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    known = environments()
    for one in known if sys.argv[1:] == ["all"] else known[:1]:
        prepare(one)
