"""Which pages there are, and how one is carried out as its reader would.

Promises: the blocks of a page share one module and one empty folder and run in the order in which
they are read; an error points at the page's own line.
"""

from __future__ import annotations

import doctest
import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from .blocks import BadPage, Run, Save, Shell, steps_of

ROOT = Path(__file__).resolve().parents[2]
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def all_pages() -> list[Path]:
    """README and everything below docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


def run_page(page: Path, folder: Path) -> None:
    """Carry out a page in an empty folder, which must be the current one."""
    # A real module: a TypedDict of the page finds its annotations through its module's name.
    module = ModuleType("page_" + "".join(c if c.isalnum() else "_" for c in name_of(page)))
    module.__file__ = str(page)
    sys.modules[module.__name__] = module
    try:
        for step in steps_of(page):
            match step:
                case Run():
                    _run(step, module)
                case Save(block=block, name=name):
                    target = folder / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(block.text, encoding="utf-8")
                case Shell():
                    _shell(step, folder)
    finally:
        del sys.modules[module.__name__]


def _run(step: Run, module: ModuleType) -> None:
    # Empty lines in front make the line numbers of a traceback those of the page.
    padded = "\n" * (step.block.line - 1) + step.block.text
    code = compile(padded, str(step.block.page), "exec", dont_inherit=True)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, vars(module))
    _compare(str(step.block), step.output, printed.getvalue())


def _shell(step: Shell, folder: Path) -> None:
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": here, "COLUMNS": "100", "NO_COLOR": "1"}
    for command, expected in step.commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=50,
        )
        # A page may show a command that fails: then it shows what is printed, and that is compared.
        if done.returncode != 0 and expected is None:
            raise BadPage(
                f"{step.block}: $ {command}\nended with {done.returncode}:\n{done.stdout}"
            )
        _compare(f"{step.block}: $ {command}", expected, done.stdout)


def _compare(where: str, expected: str | None, printed: str) -> None:
    if expected is None:
        return
    if not doctest.OutputChecker().check_output(expected, printed, _FLAGS):
        raise BadPage(f"{where}\nshould print:\n{expected}\nprinted:\n{printed}")
