"""Find uv, or bring it into .tools/ with whatever this machine has.

Promises: prints each way that is tried; what it installs is pinned by hash in
requirements/tools.txt and stays inside the checkout (apart from Debian's python3-venv, which is
the last way and taken by root only).
Called by `environments` and `lock`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
HASHED = ["--require-hashes", "-r", ROOT / "requirements" / "tools.txt"]


def find_uv() -> Path:
    """A uv that runs."""
    for known in (shutil.which("uv"), TOOLS / "uv" / "bin" / "uv", TOOLS / "venv" / "bin" / "uv"):
        if known and _works(Path(known)):
            return Path(known)
    # A bare Debian has python3 without pip, or pip without venv: each way misses something.
    for way in (_by_pip, _by_venv, _by_venv_from_apt):
        uv = way()
        if uv and _works(uv):
            return uv
    sys.exit(
        "uv is not on PATH and could not be installed; what was tried is above.\n"
        "Install uv yourself, or give this Python pip or venv\n"
        "(on Debian, as root: apt-get install python3-venv), and try again."
    )


def _by_pip() -> Path | None:
    target = TOOLS / "uv"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if not _quiet([*pip, "--version"]):
        return None
    say("installing uv into .tools/uv with pip")
    done = _loud([*pip, "install", "-q", "--target", target, *HASHED])
    return target / "bin" / "uv" if done else None


def _by_venv() -> Path | None:
    target = TOOLS / "venv"
    say("installing uv into .tools/venv with a virtual environment's pip")
    if not _quiet([sys.executable, "-m", "venv", "--clear", target]):
        say("this Python cannot make one (python3-venv is missing)")
        return None
    pip = [target / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    done = _loud([*pip, "install", "-q", *HASHED])
    return target / "bin" / "uv" if done else None


def _by_venv_from_apt() -> Path | None:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return None
    say("installing Debian's python3-venv with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends"]):
        packages = ["python3-venv", *_certificates()] if step[0] == "install" else []
        if not _loud(["apt-get", *step, *packages], environment):
            return None
    return _by_venv()


def _certificates() -> list[str]:
    """Asked for only where there are none: a machine may have its own in the same place."""
    return [] if Path("/etc/ssl/certs/ca-certificates.crt").exists() else ["ca-certificates"]


def _works(uv: Path) -> bool:
    return _quiet([uv, "--version"])


def _quiet(command: list[object]) -> bool:
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _loud(command: list[object], environment: dict[str, str] | None = None) -> bool:
    words = [str(word) for word in command]
    return subprocess.run(words, env=environment).returncode == 0


def say(what: str) -> None:
    print(f"-- {what}", flush=True)


if __name__ == "__main__":
    print(find_uv())
