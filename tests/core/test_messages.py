"""Lists of messages: what is joined, replaced and removed. The same with and without langchain."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura.core import messages
from caesura.core.messages import (
    REMOVE_ALL_MESSAGES,
    RemoveMessage,
    add_messages,
    prepare_messages,
)
from tests.core.graphs import ids


@contextmanager
def without_langchain() -> Iterator[None]:
    """As on a machine where langchain_core is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "langchain_core.messages", None)
        messages._langchain.cache_clear()
        yield
    messages._langchain.cache_clear()


@pytest.fixture(params=["without langchain", "with langchain"])
def kind(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "without langchain":
        with without_langchain():
            yield
    else:
        pytest.importorskip("langchain_core")
        yield


def seen(found: list[Any]) -> list[tuple[Any, Any]]:
    """Id and text of each message."""
    return [(m["id"], m["content"]) if isinstance(m, dict) else (m.id, m.content) for m in found]


def say(id: str, text: str) -> dict[str, str]:
    return {"role": "user", "content": text, "id": id}


@pytest.mark.usefixtures("kind")
class TestMessages:
    def test_new_ones_are_appended(self) -> None:
        assert seen(add_messages([say("1", "a")], [say("2", "b")])) == [("1", "a"), ("2", "b")]

    def test_one_with_a_known_id_replaces_it_in_its_place(self) -> None:
        left = [say("1", "a"), say("2", "b")]
        assert seen(add_messages(left, [say("1", "new")])) == [("1", "new"), ("2", "b")]

    def test_one_is_removed_by_its_id(self) -> None:
        left = [say("1", "a"), say("2", "b")]
        assert seen(add_messages(left, [RemoveMessage(id="1")])) == [("2", "b")]

    def test_all_before_it_are_removed(self) -> None:
        right = [say("2", "b"), RemoveMessage(id=REMOVE_ALL_MESSAGES), say("3", "c")]
        assert seen(add_messages([say("1", "a")], right)) == [("3", "c")]

    def test_removing_what_is_not_there_is_an_error_that_names_it(self) -> None:
        with pytest.raises(ValueError, match="no message with id '9' to remove"):
            add_messages([say("1", "a")], [RemoveMessage(id="9")])

    @pytest.mark.parametrize("given", ["hi", ("user", "hi"), {"role": "user", "content": "hi"}])
    def test_people_write_messages_in_many_ways(self, given: Any) -> None:
        assert seen(prepare_messages(given, ids())) == [("id-1", "hi")]
        assert seen(prepare_messages([given], ids())) == [("id-1", "hi")]

    def test_ids_that_are_there_are_kept(self) -> None:
        prepared = prepare_messages([say("mine", "a"), "b"], ids())
        assert seen(prepared) == [("mine", "a"), ("id-1", "b")]

    def test_what_was_given_stays_as_it_was(self) -> None:
        given, left = {"role": "user", "content": "hi"}, [say("1", "a")]
        prepare_messages([given], ids())
        add_messages(left, [given])
        assert "id" not in given
        assert len(left) == 1

    def test_joining_by_hand_gives_the_same_ids_each_time(self) -> None:
        assert seen(add_messages([], ["a", "a"])) == seen(add_messages([], ["a", "a"]))
        first, second = seen(add_messages([], ["a", "a"]))
        assert first[0] != second[0]

    def test_two_lists_are_joined_or_none(self) -> None:
        with pytest.raises(ValueError, match="only one of them"):
            add_messages([say("1", "a")])

    def test_a_format_that_is_not_known_is_refused(self) -> None:
        with pytest.raises(ValueError, match="format='xml' is not known"):
            add_messages([], ["a"], format="xml")  # type: ignore[arg-type]


def test_what_is_no_message_is_refused_where_langchain_is_missing() -> None:
    with without_langchain(), pytest.raises(ValueError, match="5 is no message"):
        add_messages([], [5])


def test_langchains_own_format_needs_langchain() -> None:
    with without_langchain(), pytest.raises(ValueError, match=r"caesura\[langchain\]"):
        add_messages([], ["a"], format="langchain-openai")


MESSAGES = st.lists(
    st.tuples(st.sampled_from("abcde"), st.text(max_size=3)).map(lambda pair: say(*pair)),
    max_size=6,
)


@given(MESSAGES, MESSAGES)
def test_every_id_is_there_once_with_its_latest_text(left: Any, right: Any) -> None:
    joined = seen(add_messages(add_messages([], left), right))
    assert len(dict(joined)) == len(joined)
    assert dict(joined) == {m["id"]: m["content"] for m in [*left, *right]}


@given(MESSAGES, MESSAGES, MESSAGES)
def test_it_does_not_matter_in_how_many_steps_messages_are_joined(a: Any, b: Any, c: Any) -> None:
    one_by_one = add_messages(add_messages(add_messages([], a), b), c)
    assert seen(one_by_one) == seen(add_messages(add_messages([], a), [*b, *c]))
