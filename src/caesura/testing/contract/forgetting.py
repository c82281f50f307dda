"""What is deleted, pruned or replaced is gone; the rest stays, and epochs go on counting."""

from __future__ import annotations

import pytest

from caesura.errors import LeaseLost, StaleHead
from caesura.ports import Append, Record, RunRow, Store
from caesura.testing.contract.words import Part, begin, names, question, row, snapshot, take

_RUN = RunRow(step=1, index=0, node="n", started_at=1, ended_at=2, outcome="done")


class ForgettingContract(Part):
    def test_a_deleted_thread_is_gone_in_every_list(self, store: Store) -> None:
        begin(store, questions=[question("q", due=1)], runs=[_RUN], snapshot=snapshot(1))
        begin(store, "u", questions=[question("p")])
        assert store.delete_thread("t") is True
        assert store.load("t") is None
        assert (store.head("t"), store.read("t"), store.runs("t")) == (0, [], [])
        assert store.snapshot_before("t", step=9) is None
        assert store.question("q") is None
        assert store.next_due() is None
        assert names(store.questions()) == ["p"]
        assert names(store.threads()) == ["u"]

    def test_there_is_nothing_to_delete_of_a_thread_that_is_not_there(self, store: Store) -> None:
        assert store.delete_thread("t") is False
        begin(store)
        assert store.delete_thread("t") is True
        assert store.delete_thread("t") is False

    def test_who_still_holds_a_deleted_thread_is_refused(self, store: Store) -> None:
        old = begin(store, owner="ana")
        store.delete_thread("t")
        with pytest.raises(LeaseLost):
            store.append(Append("t", 1, 1, b"lost", epoch=old))
        assert store.renew("t", old, 1_000_000) is False
        new = begin(store, owner="bo")
        assert new > old
        with pytest.raises(LeaseLost):
            store.append(Append("t", 1, 1, b"lost", epoch=old))
        assert store.append(Append("t", 1, 1, b"kept", epoch=new)) == new

    def test_a_thread_made_anew_is_a_new_one(self, store: Store) -> None:
        begin(store, questions=[question("q")], runs=[_RUN], row=row("waiting"))
        store.delete_thread("t")
        begin(store, "t")
        assert store.read("t") == [Record(1, b"began")]
        assert store.runs("t") == []
        begin(store, "u", questions=[question("q")])  # the id is free again
        found = store.question("q")
        assert found is not None
        assert found.thread == "u"

    # -------------------------------------------------------------------------------------- pruning
    def test_pruning_forgets_what_a_snapshot_stands_for(self, store: Store) -> None:
        epoch = _six_events(store)
        store.prune("t", upto=4)
        assert [record.seq for record in store.read("t")] == [5, 6]
        assert store.snapshot_before("t", step=3) is None
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.snapshot) == (6, snapshot(4))
        assert [record.seq for record in loaded.records] == [5, 6]
        assert store.append(Append("t", 6, 1, b"on", epoch=epoch)) == epoch

    def test_everything_up_to_the_head_can_be_pruned(self, store: Store) -> None:
        epoch = _six_events(store)
        store.append(Append("t", 6, 0, b"", epoch=epoch, snapshot=snapshot(6)))
        store.prune("t", upto=6)
        store.prune("t", upto=6)  # again is not more
        assert store.read("t") == []
        assert store.head("t") == 6
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.snapshot, loaded.records) == (6, snapshot(6), [])
        with pytest.raises(StaleHead):
            store.append(Append("t", 5, 1, b"lost", epoch=epoch))
        store.append(Append("t", 6, 1, b"on", epoch=epoch))
        assert store.read("t") == [Record(7, b"on")]

    def test_a_record_that_reaches_beyond_is_kept_whole(self, store: Store) -> None:
        epoch = begin(store)
        store.append(Append("t", 1, 5, b"five", epoch=epoch, snapshot=snapshot(4)))
        store.prune("t", upto=4)
        assert store.read("t") == store.read("t", 4) == [Record(6, b"five")]
        assert store.read("t", 0, 1) == []
        assert store.read("t", 0, 2) == [Record(6, b"five")]

    @pytest.mark.parametrize("upto", [5, 6, 99])
    def test_nothing_is_pruned_that_no_snapshot_stands_for(self, store: Store, upto: int) -> None:
        _six_events(store)
        with pytest.raises(ValueError, match="snapshot"):
            store.prune("t", upto=upto)
        assert len(store.read("t")) == 6

    def test_pruning_a_thread_leaves_the_others_alone(self, store: Store) -> None:
        begin(store, "s", snapshot=snapshot(1))
        _six_events(store)
        begin(store, "u", snapshot=snapshot(1))
        store.prune("t", upto=4)
        store.prune("nobody", upto=4)
        for other in ("s", "u"):
            assert store.read(other) == [Record(1, b"began")]
            assert store.snapshot_before(other, step=1) == snapshot(1)

    # ------------------------------------------------------------------------------------ replacing
    def test_rebuilt_rows_take_the_place_of_those_that_are_there(self, store: Store) -> None:
        begin(store, row=row("running"), questions=[question("q"), question("p")], runs=[_RUN])
        store.replace_rows(
            "t",
            expected_head=1,
            row=row("waiting", graph="rebuilt", due=3),
            questions=[question("q", status="answered", columns={"by": "ana"}), question("r")],
            runs=[],
        )
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.row == row("waiting", graph="rebuilt", due=3)
        assert names(store.questions(thread="t")) == ["q", "r"]
        assert store.question("p") is None
        assert store.runs("t") == []
        assert store.read("t") == [Record(1, b"began")]
        assert loaded.lease.owner == "ana"

    @pytest.mark.parametrize("head", [0, 2])
    def test_rows_are_replaced_only_at_the_head_they_were_rebuilt_for(
        self, store: Store, head: int
    ) -> None:
        begin(store, row=row("running"), questions=[question("q")])
        with pytest.raises(StaleHead):
            store.replace_rows("t", expected_head=head, row=row("done"), questions=[], runs=[])
        with pytest.raises(StaleHead):
            store.replace_rows("nobody", expected_head=0, row=row("done"), questions=[], runs=[])
        assert names(store.questions()) == ["q"]
        assert store.load("nobody") is None

    def test_rows_are_not_replaced_by_questions_of_another_thread(self, store: Store) -> None:
        begin(store, "u", questions=[question("theirs")])
        begin(store, row=row("running"), questions=[question("q")])
        with pytest.raises(ValueError, match="belongs to thread 'u'"):
            store.replace_rows(
                "t", expected_head=1, row=row("done"), questions=[question("theirs")], runs=[]
            )
        assert names(store.questions(thread="t")) == ["q"]


def _six_events(store: Store) -> int:
    """With snapshots of 2 and of 4."""
    epoch = store.append(Append("t", 0, 1, b"1", lease=take()))
    for head in range(1, 6):
        made = snapshot(head) if head in (2, 4) else None
        store.append(Append("t", head, 1, b"%d" % (head + 1), epoch=epoch, snapshot=made))
    return epoch
