"""The demo keeps its word: real kills, counted effects, piped and at a terminal."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.process]

DEMO = "examples/demo.py"


def counted(text: str, what: str) -> str:
    found = re.search(rf"{what}:\s+(\d+) times?", text)
    assert found, f"the demo did not count {what!r}:\n{text}"
    return found[1]


@pytest.fixture(scope="module")
def approved(piped):
    """One show, piped, that approves by itself."""
    return piped(DEMO)


def test_piped_it_approves_by_itself_and_nothing_is_done_twice(approved):
    assert approved.code == 0, approved.text
    assert counted(approved.text, "label charged") == "1"
    assert counted(approved.text, "risk assessed") == "1"
    assert counted(approved.text, "money paid back") == "1"
    assert counted(approved.text, "mail sent") == "1"


def test_both_workers_were_really_killed_with_sigkill(approved):
    assert re.findall(r"kill -9 \d+ .* it ended with (-?\d+)", approved.text) == ["-9", "-9"]


def test_the_effect_in_flight_at_the_kill_is_repeated_with_the_same_key(approved):
    keys = re.findall(r"assess-begun \S+ key=(\w+)", approved.text)

    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_piped_it_is_plain_text(approved):
    assert "\033" not in approved.text


def test_a_refusal_pays_nothing_back_and_still_sends_the_mail(piped):
    ended = piped(DEMO, "--no")

    assert ended.code == 0, ended.text
    assert counted(ended.text, "label charged") == "1"
    assert counted(ended.text, "money paid back") == "0"
    assert counted(ended.text, "mail sent") == "1"


def test_at_a_terminal_the_person_types_the_answer(at_a_terminal):
    ended = at_a_terminal(DEMO, "--pace", "0", replies={"[y/n] ": ["perhaps", "y"]})

    assert ended.code == 0, ended.text
    assert "Please type y or n." in ended.text
    assert "\033[" in ended.text
    assert counted(ended.text, "money paid back") == "1"
