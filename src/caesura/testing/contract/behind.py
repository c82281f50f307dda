"""Appends that are written behind keep their order, and every sink hears of its own."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.errors import LeaseLost, RecordTooLarge, StaleHead
from caesura.ports import Append, Store
from caesura.testing.contract.words import Outcomes, Part, begin, question


class BehindContract(Part):
    def test_what_is_appended_soon_lands_and_its_sink_is_told(self, store: Store) -> None:
        epoch, told, tag = begin(store), Outcomes(), object()
        store.append_soon(Append("t", 1, 1, b"soon", epoch=epoch), tag, told)
        assert told.of(1) == [(tag, epoch)]
        assert store.head("t") == 2

    def test_appends_given_soon_land_in_the_order_given(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()
        for head in range(1, 200):
            append = Append("t", head, 1, b"%d" % head, epoch=epoch, durable=head % 3 == 0)
            store.append_soon(append, head, told)
        assert told.of(199) == [(head, epoch) for head in range(1, 200)]
        assert [record.body for record in store.read("t", 1)] == [b"%d" % n for n in range(1, 200)]

    def test_an_append_follows_those_that_were_given_soon(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()
        for head in range(1, 50, 2):
            store.append_soon(Append("t", head, 1, b"soon", epoch=epoch), head, told)
            store.append(Append("t", head + 1, 1, b"now", epoch=epoch))
        assert store.head("t") == 51
        assert [tag for tag, _ in told.of(25)] == list(range(1, 50, 2))

    def test_every_refusal_is_the_sinks(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()
        begin(store, "other", questions=[question("theirs")])
        refused: dict[type[Exception], Append] = {
            StaleHead: Append("t", 7, 1, b"lost", epoch=epoch),
            LeaseLost: Append("t", 1, 1, b"lost", epoch=epoch + 1),
            RecordTooLarge: Append("t", 1, 1, b"x" * (store.max_bytes + 1), epoch=epoch),
            ValueError: Append("t", 1, 1, b"lost", epoch=epoch, questions=[question("theirs")]),
        }
        for kind, append in refused.items():
            store.append_soon(append, kind, told)
        for kind, outcome in told.of(4):
            assert isinstance(outcome, kind)
        assert store.head("t") == 1

    def test_a_refused_one_leaves_its_neighbours_alone(self, store: Store) -> None:
        told = Outcomes()
        epochs = {name: begin(store, name) for name in ("a", "b", "c")}
        heads = {"a": 1, "b": 9, "c": 1}
        for name, epoch in epochs.items():
            store.append_soon(Append(name, heads[name], 1, b"soon", epoch=epoch), name, told)
        outcomes = dict(told.of(3))
        assert (outcomes["a"], outcomes["c"]) == (epochs["a"], epochs["c"])
        assert isinstance(outcomes["b"], StaleHead)
        assert [store.head(name) for name in "abc"] == [2, 1, 2]

    def test_each_sink_hears_of_its_own_only(self, store: Store) -> None:
        sinks = {name: Outcomes() for name in ("a", "b", "c")}
        epochs = {name: begin(store, name) for name in sinks}
        for head in range(1, 11):
            for name, sink in sinks.items():
                store.append_soon(Append(name, head, 1, b"x", epoch=epochs[name]), name, sink)
        for name, sink in sinks.items():
            assert sink.of(10) == [(name, epochs[name])] * 10

    def test_a_sink_may_append_the_next_one(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()

        class Chain:
            def landed(self, outcomes: Any) -> None:
                for head, outcome in outcomes:
                    if head < 20:
                        append = Append("t", head + 1, 1, b"next", epoch=epoch)
                        store.append_soon(append, head + 1, self)
                    told.landed([(head, outcome)])

        store.append_soon(Append("t", 1, 1, b"first", epoch=epoch), 1, Chain())
        assert sorted(told.of(20), key=str) == sorted(((n, epoch) for n in range(1, 21)), key=str)

    # ---------------------------------------------------------------------------------- not durable
    def test_relaxed_appends_are_seen_at_once(self, store: Store) -> None:
        epoch = begin(store)
        for head in range(1, 6):
            store.append(Append("t", head, 1, b"relaxed", epoch=epoch, durable=False))
            assert store.head("t") == head + 1
        store.sync()
        assert store.head("t") == 6

    def test_relaxed_and_durable_appends_keep_their_order(self, store: Store) -> None:
        epoch = begin(store)
        for head in range(1, 31):
            store.append(Append("t", head, 1, b"%d" % head, epoch=epoch, durable=head % 3 == 0))
        assert [record.seq for record in store.read("t")] == list(range(1, 32))

    def test_a_relaxed_append_is_refused_as_any_other(self, store: Store) -> None:
        epoch = begin(store)
        with pytest.raises(StaleHead):
            store.append(Append("t", 5, 1, b"lost", epoch=epoch, durable=False))
        with pytest.raises(LeaseLost):
            store.append(Append("t", 1, 1, b"lost", epoch=epoch + 1, durable=False))

    def test_syncing_waits_for_what_was_given_soon(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()
        for head in range(1, 20):
            append = Append("t", head, 1, b"soon", epoch=epoch, durable=False)
            store.append_soon(append, head, told)
        store.sync()
        assert store.head("t") == 20
        store.sync()  # nothing is left to be done
