"""Threads are listed by name; what ended on a thread is listed by step and place."""

from __future__ import annotations

from caesura.ports import Append, RunRow, Store
from caesura.testing.contract.words import Part, begin, names, row


class ListingContract(Part):
    def test_threads_are_listed_by_name_with_row_and_head(self, store: Store) -> None:
        for name in ("b", "a", "c"):
            begin(store, name, row=row("waiting", graph=name.upper()))
        store.append(Append("b", 1, 2, b"more"))
        found = store.threads()
        assert names(found) == ["a", "b", "c"]
        assert [thread.head for thread in found] == [1, 3, 1]
        assert [thread.row.graph for thread in found] == ["A", "B", "C"]

    def test_pages_of_threads_follow_one_another_without_gaps(self, store: Store) -> None:
        wanted = [f"t{n:02}" for n in range(25)]
        for name in reversed(wanted):
            begin(store, name)
        seen: list[str] = []
        while page := store.threads(after=seen[-1] if seen else None, limit=7):
            assert len(page) <= 7
            seen += names(page)
        assert seen == wanted

    def test_threads_are_listed_by_status_and_graph(self, store: Store) -> None:
        begin(store, "a", row=row("waiting", graph="orders"))
        begin(store, "b", row=row("done", graph="orders"))
        begin(store, "c", row=row("waiting", graph="refunds"))
        assert names(store.threads(status="waiting")) == ["a", "c"]
        assert names(store.threads(graph="orders")) == ["a", "b"]
        assert names(store.threads(status="waiting", graph="orders")) == ["a"]
        assert names(store.threads(status="waiting", after="a")) == ["c"]
        assert store.threads(status="failed") == []

    def test_names_are_told_apart_by_case_and_sorted_by_code_point(self, store: Store) -> None:
        for name in ("b", "B", "a", "ä", "Z"):
            begin(store, name)
        assert names(store.threads()) == ["B", "Z", "a", "b", "ä"]

    def test_what_ended_is_listed_by_step_and_place(self, store: Store) -> None:
        runs = [_run(2, 0), _run(1, 1), _run(1, 0)]
        epoch = begin(store, runs=runs[:2])
        store.append(Append("t", 1, 1, b"x", epoch=epoch, runs=runs[2:]))
        assert store.runs("t") == [_run(1, 0), _run(1, 1), _run(2, 0)]
        assert store.runs("another") == []

    def test_a_task_that_ended_again_replaces_its_row(self, store: Store) -> None:
        failed = RunRow(step=1, index=0, node="pay", started_at=1, ended_at=2, outcome="failed")
        epoch = begin(store, runs=[failed, _run(1, 1)])
        done = RunRow(step=1, index=0, node="pay", started_at=5, ended_at=6, outcome="done")
        store.append(Append("t", 1, 1, b"x", epoch=epoch, runs=[done]))
        assert store.runs("t") == [done, _run(1, 1)]


def _run(step: int, index: int) -> RunRow:
    return RunRow(step=step, index=index, node="n", started_at=1, ended_at=2, outcome="done")
