"""Whatever can be imported from `caesura` can be looked up, with an example that runs."""

from __future__ import annotations

import re

import pytest

import caesura
from caesura import errors

from .blocks import blocks_of
from .pages import ROOT

PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
ERRORS = {name for name in caesura.__all__ if hasattr(errors, name)}


def test_every_public_name_has_an_entry_under_its_own_heading() -> None:
    lines = [line for page in PAGES for line in page.read_text().splitlines()]
    headings = "\n".join(line for line in lines if line.startswith("#"))
    names = set(caesura.__all__) - ERRORS - {"__version__"}
    assert not [name for name in sorted(names) if not _names(name, headings)]


def test_every_error_is_explained() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    assert not [name for name in sorted(ERRORS) if not _names(name, text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_of_the_reference_has_an_example(page) -> None:
    if page.name != "README.md":
        assert any(block.info == "python" for block in blocks_of(page))


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){name}(?!\w)", text) is not None
