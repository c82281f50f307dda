"""Whatever can be imported from `caesura` can be looked up, with an example that runs."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

import caesura
from caesura import testing

from .blocks import blocks_of
from .pages import ROOT

PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
_HEADING = re.compile(r"^#{1,4} (?P<title>.*)$")
_FENCE = re.compile(r"^ *(```|~~~)")


class Entry(NamedTuple):
    """What stands below one heading, up to the next."""

    title: str
    lines: tuple[int, int]


def entries_of(page) -> list[Entry]:
    found: list[tuple[str, int]] = []
    in_code = False
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        in_code ^= _FENCE.match(line) is not None
        heading = None if in_code else _HEADING.match(line)
        if heading is not None:
            found.append((heading["title"], number))
    ends = [*(number for _, number in found[1:]), len(lines) + 1]
    return [Entry(title, (start, end)) for (title, start), end in zip(found, ends, strict=True)]


HEADINGS = [entry.title for page in PAGES for entry in entries_of(page)]
PYTHON = "\n".join(
    block.text for page in PAGES for block in blocks_of(page) if block.info == "python"
)


def public_methods(cls: type) -> set[str]:
    """The sync methods; their async twins are listed in one place."""
    names = {name for name in dir(cls) if callable(getattr(cls, name)) and name[0] != "_"}
    return {name for name in names if f"a{name}" in names or not names & {name[1:]}}


@pytest.mark.parametrize("name", sorted(set(caesura.__all__) - {"__version__"}))
def test_every_public_name_has_an_entry_under_its_own_heading(name: str) -> None:
    assert name in HEADINGS


@pytest.mark.parametrize("name", sorted(set(caesura.__all__) - {"__version__"}))
def test_every_public_name_is_used_in_an_example(name: str) -> None:
    assert re.search(rf"(?<!\w){name}(?!\w)", PYTHON)


@pytest.mark.parametrize("name", sorted(testing._HOMES))
def test_whatever_tests_need_has_an_entry_with_an_example(name: str) -> None:
    assert name in HEADINGS
    assert re.search(rf"(?<!\w){name}(?!\w)", PYTHON)


@pytest.mark.parametrize("name", ["StateGraph", "CompiledGraph"])
def test_every_method_has_an_entry_under_its_own_heading(name: str) -> None:
    text = "\n".join(heading for heading in HEADINGS if heading.startswith(f"{name}."))
    missing = {
        method
        for method in public_methods(getattr(caesura, name)) - INSIDE
        if not re.search(rf"(?<!\w){method}(?!\w)", text)
    }
    assert not missing


# Of the classes' methods, those that only the library itself calls.
INSIDE = {"freeze", "append_beside", "ledger_for", "ledger_of", "need_store", "run_unstored"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_of_the_reference_has_an_example(page) -> None:
    if page.name != "README.md":
        assert any(block.info == "python" for block in blocks_of(page))
