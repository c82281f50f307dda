"""Loading gives the latest snapshot and what follows it; reading gives whole records in order."""

from __future__ import annotations

import pytest

from caesura.ports import Append, Record, Snapshot, Store
from caesura.testing.contract.words import Part, begin, row, snapshot


class ReadingContract(Part):
    def test_nothing_is_known_of_a_thread_that_was_never_written(self, store: Store) -> None:
        begin(store, "another")
        assert store.load("t") is None
        assert store.head("t") == 0
        assert store.read("t") == []
        assert store.snapshot_before("t", step=9) is None
        assert store.runs("t") == []

    def test_a_thread_without_a_row_says_that_it_runs(self, store: Store) -> None:
        begin(store)
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.row.graph, loaded.row.status, loaded.row.due) == ("", "running", None)

    def test_the_last_row_given_stays(self, store: Store) -> None:
        epoch = begin(store, row=row("running"))
        store.append(Append("t", 1, 1, b"x", epoch=epoch, row=row("waiting", due=5)))
        store.append(Append("t", 2, 1, b"y", epoch=epoch))
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.row == row("waiting", due=5)

    def test_bodies_come_back_byte_for_byte(self, store: Store) -> None:
        epoch, bodies = begin(store), [bytes(range(256)), b"\x00", "größer".encode(), b"x" * 5000]
        for head, body in enumerate(bodies, start=1):
            store.append(Append("t", head, 1, body, epoch=epoch))
        assert [record.body for record in store.read("t", 1)] == bodies

    @pytest.mark.parametrize("name", ["", "a'b\"; --", "ä/ö\n☃", "t" * 500, "%", "T"])
    def test_a_thread_may_have_any_name(self, store: Store, name: str) -> None:
        begin(store, "t")
        begin(store, name, owner="bo")
        assert store.head(name) == 1
        assert sorted(found.thread for found in store.threads()) == sorted(["t", name])

    # ---------------------------------------------------------------------------------- snapshots
    def test_loading_starts_at_the_latest_snapshot(self, store: Store) -> None:
        epoch = _ten_events(store)
        for seq in (2, 6):
            store.append(Append("t", 10, 0, b"", epoch=epoch, snapshot=snapshot(seq)))
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.snapshot) == (10, snapshot(6))
        assert [record.seq for record in loaded.records] == [7, 8, 9, 10]

    def test_without_a_snapshot_everything_is_loaded(self, store: Store) -> None:
        _ten_events(store)
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.snapshot is None
        assert loaded.records == store.read("t")
        assert len(loaded.records) == 10

    def test_a_snapshot_of_the_head_is_all_that_is_loaded(self, store: Store) -> None:
        epoch = _ten_events(store)
        store.append(Append("t", 10, 0, b"", epoch=epoch, snapshot=snapshot(10)))
        loaded = store.load("t")
        assert loaded is not None
        assert (loaded.head, loaded.records) == (10, [])

    def test_a_snapshot_in_the_middle_of_a_record_loads_the_whole_record(
        self, store: Store
    ) -> None:
        epoch = begin(store)
        store.append(Append("t", 1, 4, b"four", epoch=epoch, snapshot=snapshot(3)))
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.records == [Record(5, b"four")]

    def test_a_snapshot_given_out_of_order_is_not_the_latest(self, store: Store) -> None:
        epoch = _ten_events(store)
        for seq in (8, 3):
            store.append(Append("t", 10, 0, b"", epoch=epoch, snapshot=snapshot(seq)))
        loaded = store.load("t")
        assert loaded is not None
        assert loaded.snapshot == snapshot(8)

    def test_a_snapshot_of_the_same_seq_replaces_the_one_before(self, store: Store) -> None:
        epoch = _ten_events(store)
        for body in (b"first", b"second"):
            append = Append("t", 10, 0, b"", epoch=epoch, snapshot=snapshot(4, body=body))
            store.append(append)
        assert store.snapshot_before("t", step=4) == Snapshot(4, 4, b"second")

    def test_the_snapshot_before_a_step_is_found(self, store: Store) -> None:
        epoch = _ten_events(store)
        for seq, step in ((3, 1), (6, 2), (9, 5)):
            found = snapshot(seq, step=step)
            store.append(Append("t", 10, 0, b"", epoch=epoch, snapshot=found))
        steps = {step: store.snapshot_before("t", step=step) for step in (0, 1, 2, 4, 5, 99)}
        assert {step: found and found.seq for step, found in steps.items()} == {
            0: None,
            1: 3,
            2: 6,
            4: 6,
            5: 9,
            99: 9,
        }

    # -------------------------------------------------------------------------------------- ranges
    @pytest.mark.parametrize(
        ("after", "upto", "seqs"),
        [
            (0, None, [1, 4, 5, 9]),
            (1, None, [4, 5, 9]),
            (2, None, [4, 5, 9]),
            (4, None, [5, 9]),
            (9, None, []),
            (50, None, []),
            (0, 0, []),
            (0, 1, [1]),
            (0, 2, [1, 4]),
            (0, 4, [1, 4]),
            (3, 4, [4]),
            (4, 4, []),
            (5, 3, []),
            (4, 6, [5, 9]),
            (5, 9, [9]),
            (0, 99, [1, 4, 5, 9]),
            (7, 99, [9]),
        ],
    )
    def test_a_range_gives_the_whole_records_that_it_touches(
        self, store: Store, after: int, upto: int | None, seqs: list[int]
    ) -> None:
        begin(store, "before")
        epoch = begin(store)
        for head, count in ((1, 3), (4, 1), (5, 4)):
            store.append(Append("t", head, count, b"x", epoch=epoch))
        begin(store, "behind")
        assert [record.seq for record in store.read("t", after, upto)] == seqs

    def test_what_was_read_does_not_change_afterwards(self, store: Store) -> None:
        epoch = begin(store)
        records, loaded = store.read("t"), store.load("t")
        store.append(Append("t", 1, 1, b"later", epoch=epoch))
        assert loaded is not None
        assert records == loaded.records == [Record(1, b"began")]


def _ten_events(store: Store) -> int:
    epoch = begin(store)
    for head in range(1, 10):
        store.append(Append("t", head, 1, b"%d" % (head + 1), epoch=epoch))
    return epoch
