"""What somebody gets who installs the library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def _uv() -> str:
    places = [shutil.which("uv"), *map(str, (ROOT / ".tools").glob("*/bin/uv"))]
    found = next((place for place in places if place), None)
    if found is None:
        pytest.skip("uv is not here; `make env` brings it")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(target.glob("*.whl"))


def test_the_wheel_holds_the_package_its_types_and_its_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "caesura/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("caesura/", "caesura-")) for name in names)


def test_a_fresh_install_brings_at_most_three_distributions_and_works(
    wheel: Path, tmp_path: Path
) -> None:
    uv, here = _uv(), tmp_path / "fresh"
    python = here / "bin" / "python"
    quiet = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": ""}
    for command in (
        [uv, "venv", "-q", "--python", sys.executable, str(here)],
        [uv, "pip", "install", "-q", "--python", str(python), str(wheel)],
    ):
        subprocess.run(command, check=True, env=quiet, cwd=tmp_path)
    question = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
    brought = _ask(python, question).split()
    assert "caesura" in brought
    assert len(brought) <= 3, brought
    assert _ask(python, "from caesura import START; print(START)").strip() == "__start__"


def _ask(python: Path, program: str) -> str:
    command = [str(python), "-I", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
