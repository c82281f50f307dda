"""The runner itself: what a page cannot get away with."""

from __future__ import annotations

from pathlib import Path

import pytest

from .blocks import BadPage
from .pages import run_page


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(text: str) -> None:
        page = tmp_path / "page.md"
        page.write_text(text)
        run_page(page, tmp_path)

    return run


def test_blocks_share_one_namespace_in_reading_order(run) -> None:
    run("```python\na = 1\n```\nwords\n```python\nassert a == 1\n```\n")


def test_an_error_points_at_the_line_of_the_page(run) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("# Title\n\n```python\nfine = 1\n1 / 0\n```\n")
    assert caught.traceback[-1].lineno + 1 == 5


def test_annotations_of_a_page_resolve_in_its_module(run) -> None:
    run(
        "```python\n"
        "from __future__ import annotations\n"
        "from typing import TypedDict, get_type_hints\n"
        "class Inner(TypedDict):\n    a: int\n"
        "class Outer(TypedDict):\n    inner: Inner\n"
        "assert get_type_hints(Outer)['inner'] is Inner\n"
        "```\n"
    )


@pytest.mark.parametrize("info", ["python no-run", "py", "python3", "pycon", "{python}"])
def test_python_that_would_not_run_is_refused(run, info: str) -> None:
    with pytest.raises(BadPage, match="would not be run"):
        run(f"```{info}\n1 / 0\n```\n")


def test_output_is_compared(run) -> None:
    run("```python\nprint('a 1')\n```\n\n```output\na ...\n```\n")
    with pytest.raises(BadPage, match="should print"):
        run("```python\nprint('a')\n```\n\n```output\nb\n```\n")


def test_output_without_its_python_is_refused(run) -> None:
    with pytest.raises(BadPage, match="no python block"):
        run("```output\nb\n```\n")


def test_a_saved_file_is_run_by_a_later_command(run) -> None:
    saved = "```python file=app.py\nprint('hello')\n```\n"
    run(saved + "```console run\n$ python app.py\nhello\n```\n")
    with pytest.raises(BadPage, match=r"no later `console run` block uses app\.py"):
        run(saved)


def test_a_module_is_used_when_a_file_that_is_run_imports_it(run) -> None:
    module = "```python file=words.py\nHELLO = 'hello'\n```\n"
    program = "```python file=app.py\nfrom words import HELLO\nprint(HELLO)\n```\n"
    run(module + program + "```console run\n$ python app.py\nhello\n```\n")
    run(module + "```console run\n$ python -c 'import words'\n```\n")
    with pytest.raises(BadPage, match=r"uses words\.py"):
        run(module + "```console run\n$ echo hello\n```\n")


def test_a_command_that_fails_fails_the_page_unless_its_words_are_shown(run) -> None:
    with pytest.raises(BadPage, match="ended with 3"):
        run("```console run\n$ exit 3\n```\n")
    run("```console run\n$ echo no; exit 3\nno\n```\n")


def test_a_console_block_that_is_not_marked_is_only_shown(run) -> None:
    run("```console\n$ exit 3\n```\n")


def test_a_block_inside_a_list_loses_the_indentation_of_the_list(run) -> None:
    run("1. do\n\n   ```python\n   a = 1\n   ```\n")


def test_a_block_without_end_is_refused(run) -> None:
    with pytest.raises(BadPage, match="never ends"):
        run("```python\na = 1\n")
