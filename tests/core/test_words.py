"""Send, Command, Interrupt and the others are what people of dataclasses expect."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Literal, get_args

import pytest

from caesura.core.control import (
    END,
    Answer,
    Answers,
    Command,
    Interrupt,
    NodeError,
    Overwrite,
    Send,
    TimeoutPolicy,
)

WORDS = [
    Send("a", 1),
    Command(goto="a"),
    Overwrite([1]),
    Answer(1),
    Answers({"q": 1}),
    Interrupt("?"),
    NodeError("a", ValueError("no")),
    TimeoutPolicy(run_timeout=1),
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: type(word).__name__)
def test_words_are_true_dataclasses(word: Any) -> None:
    assert dataclasses.is_dataclass(word)
    names = [field.name for field in dataclasses.fields(word)]
    assert dataclasses.replace(word) == word if type(word) is not Send else names[0] == "node"


def test_a_copied_command_still_resumes_nothing() -> None:
    assert copy.deepcopy(Command(goto="a")) == Command(goto="a")


def test_a_command_shows_only_what_was_set() -> None:
    assert repr(Command(update={"a": 1}, goto=END)) == "Command(update={'a': 1}, goto='__end__')"
    assert repr(Command(resume=None)) == "Command(resume=None)"
    assert repr(Command()) == "Command()"


def test_a_command_can_be_replaced_in_part() -> None:
    assert dataclasses.replace(Command(goto="a"), update={"n": 1}) == Command(
        goto="a", update={"n": 1}
    )


def test_a_command_says_in_its_annotation_where_it_goes() -> None:
    assert get_args(get_args(Command[Literal["a", "b"]])[0]) == ("a", "b")


def test_words_can_be_taken_apart_by_position() -> None:
    match Send("a", {"n": 1}), Overwrite(5):
        case Send(node, arg), Overwrite(value):
            assert (node, arg, value) == ("a", {"n": 1}, 5)


def test_interrupts_are_equal_by_value_and_id() -> None:
    assert Interrupt("?", "1") == Interrupt("?", "1", response_schema=int, key="name")
    assert Interrupt("?", "1") != Interrupt("?", "2")
    assert len({Interrupt({"not": "hashable"}, "1"), Interrupt("?", "1")}) == 2


def test_words_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Command().goto = "a"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Send("a", 1).node = "b"  # type: ignore[misc]


@pytest.mark.parametrize("word", [Send("a", 1), Command(goto="a"), Overwrite(1), Interrupt("?")])
def test_words_survive_pickling(word: Any) -> None:
    assert pickle.loads(pickle.dumps(word)) == word
