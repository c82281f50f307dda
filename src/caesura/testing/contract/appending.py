"""Appending follows the head, is all or nothing, and has one winner."""

from __future__ import annotations

from functools import partial

import pytest

from caesura.errors import LeaseLost, RecordTooLarge, StaleHead
from caesura.ports import Append, Record, Release, RunRow, Snapshot, Store
from caesura.testing.contract.words import (
    MAX_BYTES,
    Part,
    at_once,
    begin,
    names,
    question,
    row,
    snapshot,
)


class AppendingContract(Part):
    def test_an_append_moves_the_head_by_its_events(self, store: Store) -> None:
        epoch = begin(store)
        assert store.append(Append("t", 1, 3, b"three", epoch=epoch)) == epoch
        assert store.head("t") == 4
        assert store.read("t") == [Record(1, b"began"), Record(4, b"three")]

    @pytest.mark.parametrize("after", [0, 1, 2, 4, 9])
    def test_an_append_that_does_not_follow_the_head_is_refused(
        self, store: Store, after: int
    ) -> None:
        epoch = begin(store)
        store.append(Append("t", 1, 2, b"two", epoch=epoch))
        for under in (epoch, None):
            with pytest.raises(StaleHead) as refused:
                store.append(Append("t", after, 1, b"lost", epoch=under))
            assert (refused.value.expected, refused.value.head) == (after, 3)
        assert store.head("t") == 3

    def test_a_thread_that_is_not_there_has_nothing_to_follow(self, store: Store) -> None:
        with pytest.raises(StaleHead):
            store.append(Append("nobody", 5, 1, b"lost"))
        assert store.load("nobody") is None
        assert store.threads() == []

    def test_an_append_without_a_lease_returns_the_epoch_in_force(self, store: Store) -> None:
        epoch = begin(store)
        assert store.append(Append("t", 1, 1, b"an answer")) == epoch

    def test_threads_have_heads_and_epochs_of_their_own(self, store: Store) -> None:
        epochs = {name: begin(store, name) for name in ("a", "b", "c")}
        store.append(Append("b", 1, 1, b"more", epoch=epochs["b"]))
        assert [store.head(name) for name in "abc"] == [1, 2, 1]
        with pytest.raises(StaleHead):
            store.append(Append("a", 2, 1, b"lost", epoch=epochs["a"]))

    def test_an_append_without_events_compares_the_head_and_changes_rows(
        self, store: Store
    ) -> None:
        epoch = begin(store)
        store.append(Append("t", 1, 0, b"", epoch=epoch, row=row("waiting")))
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.row.status) == (1, "waiting")
        with pytest.raises(StaleHead):
            store.append(Append("t", 0, 0, b"", epoch=epoch, row=row("done")))

    def test_an_append_that_only_compares_the_head_leaves_no_thread_behind(
        self, store: Store
    ) -> None:
        assert store.append(Append("nobody", 0, 0, b"")) == 0
        assert store.load("nobody") is None
        begin(store)
        assert store.append(Append("t", 1, 0, b"")) == 1
        with pytest.raises(StaleHead):
            store.append(Append("t", 0, 0, b""))

    def test_everything_in_an_append_lands_together(self, store: Store) -> None:
        run = RunRow(step=1, index=0, node="review", started_at=1, ended_at=2, outcome="done")
        begin(
            store,
            row=row("waiting", due=9),
            questions=[question("q")],
            runs=[run],
            snapshot=snapshot(0),
        )
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.row == row("waiting", due=9)
        assert loaded.snapshot == snapshot(0)
        assert names(store.questions()) == ["q"]
        assert store.runs("t") == [run]

    @pytest.mark.parametrize("why", ["head", "epoch", "question"])
    def test_a_refused_append_leaves_nothing_behind(self, store: Store, why: str) -> None:
        epoch = begin(store, row=row())
        begin(store, "other", questions=[question("theirs")])
        before = store.load("t")
        append = Append(
            "t",
            7 if why == "head" else 1,
            1,
            b"lost",
            epoch=epoch + 1 if why == "epoch" else epoch,
            lease=Release(),
            row=row("done"),
            questions=[question("q"), question("theirs" if why == "question" else "p")],
            runs=[RunRow(1, 0, "review", 1, 2, "done")],
            snapshot=snapshot(1),
        )
        with pytest.raises((StaleHead, LeaseLost, ValueError)):
            store.append(append)
        assert store.load("t") == before
        assert store.runs("t") == []
        assert names(store.questions()) == ["theirs"]

    def test_appends_at_one_head_have_one_winner(self, store: Store) -> None:
        begin(store)
        for head in range(1, 11):
            bodies = [b"%d by %d" % (head, writer) for writer in range(8)]
            outcomes = at_once(
                [partial(store.append, Append("t", head, 1, body)) for body in bodies]
            )
            won = [body for body, outcome in zip(bodies, outcomes, strict=True) if outcome == 1]
            assert len(won) == 1
            assert sum(isinstance(outcome, StaleHead) for outcome in outcomes) == 7
            assert store.read("t", head) == [Record(head + 1, won[0])]

    def test_threads_that_append_at_once_all_get_through(self, store: Store) -> None:
        def run(name: str) -> int:
            epoch = begin(store, name)
            for head in range(1, 20):
                store.append(Append(name, head, 1, b"%d" % head, epoch=epoch))
            return store.head(name)

        assert at_once([partial(run, f"t{n}") for n in range(12)]) == [20] * 12

    def test_a_refused_append_leaves_those_beside_it_alone(self, store: Store) -> None:
        epochs = [begin(store, f"t{n}") for n in range(10)]
        acts = [
            partial(store.append, Append(f"t{n}", n % 2 * 5 + 1, 1, b"x", epoch=epoch))
            for n, epoch in enumerate(epochs)
        ]
        outcomes = at_once(acts)
        assert [isinstance(outcome, StaleHead) for outcome in outcomes] == [False, True] * 5
        assert [store.head(f"t{n}") for n in range(10)] == [2, 1] * 5

    # ------------------------------------------------------------------------------------- limits
    def test_a_record_as_large_as_the_limit_is_kept_and_a_larger_one_refused(
        self, store: Store
    ) -> None:
        assert store.max_bytes <= MAX_BYTES
        epoch, body = begin(store), b"x" * store.max_bytes
        store.append(Append("t", 1, 1, body, epoch=epoch))
        with pytest.raises(RecordTooLarge, match="max_bytes") as refused:
            store.append(Append("t", 2, 1, body + b"x", epoch=epoch))
        assert (refused.value.size, refused.value.limit) == (store.max_bytes + 1, store.max_bytes)
        assert store.read("t", 1) == [Record(2, body)]

    def test_a_snapshot_and_a_question_have_the_same_limit(self, store: Store) -> None:
        epoch, body = begin(store), b"x" * store.max_bytes
        largest = Snapshot(1, 1, body)
        store.append(
            Append(
                "t",
                1,
                1,
                b"fits",
                epoch=epoch,
                snapshot=largest,
                questions=[question("q", body=body)],
            )
        )
        for more in (
            {"snapshot": Snapshot(2, 2, body + b"x")},
            {"questions": [question("p", body=body + b"x")]},
        ):
            with pytest.raises(RecordTooLarge):
                store.append(Append("t", 2, 1, b"lost", epoch=epoch, **more))
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.snapshot) == (2, largest)
        assert names(store.questions()) == ["q"]

    @pytest.mark.parametrize(("count", "body"), [(-1, b""), (0, b"a body of nothing")])
    def test_events_and_their_body_belong_together(
        self, store: Store, count: int, body: bytes
    ) -> None:
        begin(store)
        with pytest.raises(ValueError, match="events"):
            store.append(Append("t", 1, count, body, row=row()))
        assert store.head("t") == 1
