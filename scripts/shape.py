"""Print the longest files and functions, and what is over the limits.

Promises: the limits exist here and nowhere else. They are a smell, not a law: the call always
succeeds, and says what a reader would stumble over.
Called by `make shape`.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 10
FILE_LIMIT = 300
FUNCTION_LIMIT = 50


class Length(NamedTuple):
    """A thing and how many lines it takes."""

    lines: int
    what: str


def files() -> list[Path]:
    """The Python files that belong to the product, also those not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


def functions(path: Path) -> Iterator[Length]:
    """Every function of a file, without its docstring: words are not length."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            end = node.end_lineno or node.lineno
            lines = end - node.lineno + 1
            if ast.get_docstring(node) is not None:
                docstring = node.body[0]
                lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield Length(lines, f"{where} {node.name}")


def show(title: str, lengths: list[Length], limit: int) -> None:
    over = sum(length.lines > limit for length in lengths)
    print(f"{title} (over {limit} lines: {over} of {len(lengths)})")
    for length in sorted(lengths, reverse=True)[:SHOWN]:
        mark = "!" if length.lines > limit else " "
        print(f"  {mark} {length.lines:5}  {length.what}")


def main() -> None:
    for part in ("src", "tests", "bench", "examples", "scripts"):
        paths = [path for path in files() if path.is_relative_to(ROOT / part)]
        if paths:
            lengths = [
                Length(len(p.read_text().splitlines()), str(p.relative_to(ROOT))) for p in paths
            ]
            show(f"{part}: longest files", lengths, FILE_LIMIT)
            show(
                f"{part}: longest functions",
                [f for p in paths for f in functions(p)],
                FUNCTION_LIMIT,
            )
            print()


if __name__ == "__main__":
    main()
