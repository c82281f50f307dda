"""Every example that a reader can copy works, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import ROOT, all_pages, name_of, run_page

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<title>.*)$", re.MULTILINE)
_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", all_pages(), ids=name_of)
def test_the_examples_of_a_page_run_in_reading_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", all_pages(), ids=name_of)
def test_the_links_of_a_page_lead_to_files_and_headings_that_exist(page: Path) -> None:
    prose = _CODE.sub("", page.read_text(encoding="utf-8"))
    broken = [m["target"] for m in _LINK.finditer(prose) if not _leads(page, m["target"])]
    assert not broken


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    ahead = [ROOT / "docs" / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        links = _LINK.finditer(_CODE.sub("", page.read_text(encoding="utf-8")))
        ahead += [(page.parent / link["target"].partition("#")[0]).resolve() for link in links]
    lost = [name_of(page) for page in all_pages() if page not in reached]
    assert not [name for name in lost if name != "README.md"], "link them from docs/README.md"


def _leads(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True  # the network is not asked
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    if not file.exists():
        return False
    if not anchor or file.suffix != ".md":
        return True
    titles = _HEADING.findall(_CODE.sub("", file.read_text(encoding="utf-8")))
    return anchor in {_anchor(title) for title in titles}


def _anchor(title: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower())
    return kept.strip().replace(" ", "-")
