"""How many distributions an installation of the core brings, itself included.

`distributions` follows the recorded requirements of what is installed here, without a network.
`fresh-install` (only when asked for by name) installs both into empty directories and counts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from bench.measure import Bound, Figures, Measurement, Scale, Unavailable

CHECKOUT = Path(__file__).resolve().parents[1]


def closure(name: str, _directory: Path, _size: int) -> Figures:
    """Everything that is required by what is required, extras left out."""
    found: set[str] = set()
    open_names = [name]
    while open_names:
        current = _canonical(open_names.pop())
        if current not in found:
            found.add(current)
            open_names += [_name_of(line) for line in _requirements(current) if _applies(line)]
    return {"count": len(found)}


def _requirements(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        manifest = CHECKOUT / "pyproject.toml"
        if name == "caesura" and manifest.exists():
            return list(tomllib.loads(manifest.read_text())["project"]["dependencies"])
        raise Unavailable(f"{name} is not installed") from None


def _name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _applies(requirement: str) -> bool:
    _, _, marker = requirement.partition(";")
    if not marker:
        return True
    try:
        from packaging.markers import Marker
    except ImportError:
        return "extra" not in marker
    return bool(Marker(marker.strip()).evaluate({"extra": ""}))


def fresh_install(what: str, directory: Path, _size: int) -> Figures:
    target = ["install", "--quiet", "--target", str(directory / "site"), what]
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", *target, "--python", sys.executable]
    else:
        command = [sys.executable, "-m", "pip", *target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"installing {what} failed: {done.stderr.strip()[-200:]}")
    return {"count": len(list((directory / "site").glob("*.dist-info")))}


AT_MOST_THREE = [Bound("count", 3, kind="absolute", against=None)]
ONCE: dict[Scale, int] = {"full": 1, "quick": 1, "smoke": 1}

MEASUREMENTS = [
    Measurement(
        name="distributions",
        title="distributions that the core needs",
        unit="distributions",
        sides={
            "ours": partial(closure, "caesura"),
            "langgraph": partial(closure, "langgraph"),
        },
        bounds=AT_MOST_THREE,
        rounds=ONCE,
        metrics=("count",),
    ),
    Measurement(
        name="fresh-install",
        title="distributions in a fresh installation",
        unit="distributions",
        sides={
            "ours": partial(fresh_install, str(CHECKOUT)),
            "langgraph": partial(fresh_install, "langgraph"),
        },
        bounds=AT_MOST_THREE,
        rounds=ONCE,
        metrics=("count",),
        on_request=True,
    ),
]
