"""The small examples do what their first lines say, run as programs."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.process


def test_a_draft_goes_round_until_the_person_is_content(piped):
    ended = piped("examples/approval.py", typed="friendlier\nok\n")

    assert ended.code == 0, ended.text
    assert ended.text.count("Dear customer") == 3  # two drafts and what was sent
    assert "Sent: Dear customer, about the delay: (friendlier) we are sorry." in ended.text


def test_parallel_reviewers_who_all_agree_publish_once(piped):
    ended = piped("examples/reviewers.py", typed="yes\nyes\nyes\n")

    assert ended.code == 0, ended.text
    assert ended.text.count("*** We are open on Sundays ***") == 1
    assert ended.text.endswith("published\n")


def test_each_reviewers_answer_counts_for_that_reviewer(piped):
    """The questions are answered in reverse order: security, press, legal."""
    ended = piped("examples/reviewers.py", typed="no\nyes\nyes\n")

    assert ended.code == 0, ended.text
    assert ended.text.endswith("held back by security\n")


def test_the_agent_deletes_only_what_it_was_allowed_to(piped):
    ended = piped("examples/agent.py", typed="yes\nno\n")

    assert ended.code == 0, ended.text
    assert ended.text.count("[list *]") == 1
    assert ended.text.count("[delete draft.txt]") == 1
    assert "[delete thesis.txt]" not in ended.text
    assert "tool: delete: the person said no" in ended.text
    assert ended.text.endswith("agent: I tidied up.\n")
