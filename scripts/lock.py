"""Write requirements/*.txt from pyproject.toml: every package of every group, pinned and hashed.

Promises: the files agree with each other (one resolution of everything constrains each of them),
serve every supported Python, and hold no address of any package index and no path.
`python3 scripts/lock.py --upgrade` takes the newest versions, without it what is locked stays.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from find_python import SUPPORTED
from find_uv import ROOT, find_uv, say

LOCKS = ROOT / "requirements"
EXTRAS = ["pyproject.toml", "--all-extras"]
# test.txt holds the extras too: their tests run on every Python.
FILES = {
    "test": [*EXTRAS, "--group", "test"],
    "build": ["--group", "build"],
    "lint": ["--group", "lint"],
    "bench": ["--group", "bench"],
}


def main(upgrade: bool) -> None:
    newer = ["--upgrade"] if upgrade else []
    with tempfile.TemporaryDirectory() as scratch:
        everything = Path(scratch) / "everything.txt"
        everything.write_text("".join(_pins(LOCKS / f"{name}.txt") for name in FILES))
        say("resolving everything together")
        groups = [word for name in FILES for word in ("--group", name)]
        _compile(everything, [*EXTRAS, *groups, *newer])
        for name, what in FILES.items():
            say(f"writing requirements/{name}.txt")
            target = LOCKS / f"{name}.txt"
            target.unlink(missing_ok=True)
            _compile(target, [*what, "--generate-hashes", "-c", everything])
    say("writing requirements/tools.txt")
    _compile(LOCKS / "tools.txt", ["--group", "tools", "--generate-hashes", *newer])


def _pins(lock: Path) -> str:
    """A lock file without its hashes: what the next resolution prefers."""
    if not lock.is_file():
        return ""
    lines = lock.read_text().splitlines()
    return "".join(f"{line.rstrip(chr(92)).strip()}\n" for line in lines if line[:1].isalnum())


def _compile(target: Path, arguments: list[object]) -> None:
    command: list[object] = [find_uv(), "--quiet", "pip", "compile", *arguments, "-o", target]
    command += ["--universal", "--python-version", SUPPORTED[0], "--no-emit-index-url"]
    # No annotations: they would name the scratch folder.
    command += ["--no-annotate", "--custom-compile-command", "make lock"]
    # A machine's own folders of wheels must not decide what everybody installs.
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    environment.pop("UV_FIND_LINKS", None)
    if subprocess.run([str(word) for word in command], cwd=ROOT, env=environment).returncode != 0:
        sys.exit(1)


if __name__ == "__main__":
    main(upgrade="--upgrade" in sys.argv[1:])
