"""Find the Python interpreters of this machine that the library supports.

Promises: every interpreter returned was started and has what the suite needs. Looks only where
interpreters usually are: on PATH, in the system's folders, among pyenv's versions. Downloads none.
Called by `environments`; as a program it prints what it found.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13")

# A shim answers to a name whose version is not selected, and a distribution may ship a Python
# without sqlite3 or ssl: only running it tells.
PROBE = """
import sys, sqlite3, ssl, ctypes, zlib
print("%d.%d" % sys.version_info[:2])
print(getattr(sys, "_base_executable", None) or sys.executable)
"""


def find_interpreters() -> dict[str, Path]:
    """The first working interpreter of each supported version, lowest version first."""
    found: dict[str, Path] = {}
    for version in SUPPORTED:
        for candidate in _candidates(version):
            real = _probe(candidate, version)
            if real is not None:
                found[version] = real
                break
    return found


def _candidates(version: str) -> Iterator[Path]:
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    folders += [Path("/usr/bin"), Path("/usr/local/bin"), Path("/opt/homebrew/bin")]
    for folder in folders:
        yield folder / f"python{version}"
    for versions in _pyenv_versions():
        yield from sorted(versions.glob(f"{version}.*/bin/python{version}"), reverse=True)


def _pyenv_versions() -> Iterator[Path]:
    if root := os.environ.get("PYENV_ROOT"):
        yield Path(root) / "versions"
    answer = _run(["pyenv", "root"])
    if answer:
        yield Path(answer.strip()) / "versions"
    yield Path.home() / ".pyenv" / "versions"


def _probe(candidate: Path, version: str) -> Path | None:
    if not candidate.is_file():
        return None
    answer = _run([str(candidate), "-I", "-c", PROBE])
    said, _, real = answer.strip().partition("\n")
    return Path(real) if said == version else None


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    interpreters = find_interpreters()
    for number, path in interpreters.items():
        print(f"{number}  {path}")
    sys.exit(0 if interpreters else 1)
