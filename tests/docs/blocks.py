"""The code blocks of a Markdown page: which kinds there are and what is done with each.

Promises: nothing that looks like Python is skipped. A block that is neither run nor written to a
file that a later command runs is an error, so a page cannot rot behind a special marker.

    python              runs, in the page's one namespace, in the page's one folder
    python file=app.py  becomes a file of that folder; a later `console run` block must use it, or a
                        later file that is used must import it
    output              is what the Python block before it must print
    console run         each `$ command` runs; the lines below it, if any, are what it must print
    console             shown only, as are all other languages
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^`]*)$")
_FILE = re.compile(r"^python file=(?P<name>[\w./-]+)$")


class BadPage(AssertionError):
    """A page is written in a way that would leave its code unchecked."""


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of text."""

    page: Path
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Run:
    """Python that runs, and what it must print."""

    block: Block
    output: str | None


@dataclass(frozen=True)
class Save:
    """A file that a later command runs."""

    block: Block
    name: str


@dataclass(frozen=True)
class Shell:
    """Commands with what each must print; nothing given means anything goes."""

    block: Block
    commands: tuple[tuple[str, str | None], ...]


Step = Run | Save | Shell


def steps_of(page: Path) -> list[Step]:
    """What running a page means, in order."""
    blocks = blocks_of(page)
    steps: list[Step] = []
    for position, block in enumerate(blocks):
        match block.info:
            case "python":
                following = blocks[position + 1] if position + 1 < len(blocks) else None
                printed = following and following.info == "output"
                steps.append(Run(block, following.text if following and printed else None))
            case "console run":
                steps.append(Shell(block, tuple(_commands(block))))
            case "output":
                if not steps or not isinstance(steps[-1], Run) or steps[-1].output != block.text:
                    raise BadPage(f"{block}: no python block stands right before this output.")
            case info if saved := _FILE.match(info):
                steps.append(Save(block, saved["name"]))
            case info if info.startswith(("py", "Py", "{", "pycon")):
                raise BadPage(
                    f"{block}: {info!r} would not be run. "
                    "Write `python`, or `python file=NAME` with a later `console run` that uses it."
                )
            case _:
                pass
    for position, step in enumerate(steps):
        if isinstance(step, Save) and not _is_used(step.name, steps[position + 1 :]):
            raise BadPage(f"{step.block}: no later `console run` block uses {step.name}.")
    return steps


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    found: list[Block] = []
    opening: re.Match[str] | None = None
    start, collected = 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if opening is None:
            if fence:
                opening, start, collected = fence, number + 1, []
        elif fence and not fence["info"].strip() and fence["ticks"].startswith(opening["ticks"]):
            text = "".join(f"{one}\n" for one in collected)
            found.append(Block(page, start, opening["info"].strip(), text))
            opening = None
        else:
            collected.append(line.removeprefix(opening["indent"]))
    if opening is not None:
        raise BadPage(f"{page}:{start}: this block never ends.")
    return found


def _commands(block: Block) -> list[tuple[str, str | None]]:
    commands: list[tuple[str, str | None]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], None))
        elif commands:
            command, printed = commands[-1]
            commands[-1] = (command, (printed or "") + line + "\n")
        else:
            raise BadPage(f"{block}: the block must begin with `$ command`.")
    return commands


def _is_used(name: str, later: list[Step]) -> bool:
    imports = re.compile(rf"\b(from|import) {re.escape(Path(name).stem)}\b")
    for position, step in enumerate(later):
        match step:
            case Shell():
                if any(name in command or imports.search(command) for command, _ in step.commands):
                    return True
            case Save(block=block, name=importer):
                if imports.search(block.text) and _is_used(importer, later[position + 1 :]):
                    return True
    return False
