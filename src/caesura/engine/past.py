"""A thread's past, read from its log: every step as it was, and the whole thread as of a step.

Promises: reads and folds, and changes nothing. Entries are in the order in which they were made.
Called by `engine.snapshots` for histories and by `engine.rewinding`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from caesura.core.events import Asked, Event, Leapt, Started, Updated
from caesura.core.history import Fold, journal_key
from caesura.core.parts import Question
from caesura.core.view import RunView, TaskView, ThreadView
from caesura.engine.families import Family, task_of
from caesura.engine.naming import task_id

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger
    from caesura.ports import Record, Snapshot

EVERY_STEP = 1 << 60


@dataclass(slots=True)
class Entry:
    """One step of one run, as it began; its tasks carry what they came to."""

    run: int
    ordinal: int
    source: str
    count: int
    parent: int | None
    at: int
    values: dict[str, Any]
    tasks: list[TaskView]
    namespace: str
    parents: dict[str, int]  # the steps of the runs around it, by their namespaces
    ran: list[str]
    hidden: bool = False
    asked: dict[int, list[Question]] = field(default_factory=dict)  # by the index of a task


class _Reached(Exception):
    """The step that was looked for has just been made."""


class Past:
    """The log of one thread, read again."""

    def __init__(self, graph: CompiledGraph, ledger: Ledger) -> None:
        self._graph, self._ledger = graph, ledger
        self.family = Family(graph.plan)
        self.entries: list[Entry] = []
        self.seq = 0  # of the last event that was folded
        self._by_journal: dict[str, tuple[Entry, int]] = {}
        self._latest: dict[int, Entry] = {}
        self._wanted: int | None = None
        self._hide_next = False
        self._fold: Fold | None = None

    @classmethod
    def of(cls, graph: CompiledGraph, ledger: Ledger) -> Past:
        return cls(graph, ledger)

    # -------------------------------------------------------------------------------------- reading
    def read(self) -> list[Entry]:
        """All entries, oldest first."""
        snapshot, records = self.from_the_beginning()
        fold = self._begin(snapshot)
        for _ in self._events(fold, snapshot, records):
            pass
        return self.entries

    def view_at(self, ordinal: int) -> tuple[ThreadView, RunView] | None:
        """The whole thread at the moment when a step was made, and the run that made it."""
        store, thread = self._ledger.store, self._ledger.thread
        assert store is not None
        snapshot = store.snapshot_before(thread, step=ordinal)
        records = store.read(thread, snapshot.seq if snapshot is not None else 0)
        if snapshot is None and records and not self._is_first(records):
            return None
        self._wanted = ordinal
        fold = self._begin(snapshot)
        try:
            for _ in self._events(fold, snapshot, records):
                pass
        except _Reached:
            run = next(run for run in fold.view.runs.values() if run.step == ordinal)
            return fold.view, run
        return None

    def _begin(self, snapshot: Snapshot | None) -> Fold:
        view = ThreadView()
        if snapshot is not None:
            view = self._ledger.codec.decode_view(snapshot.body)
            self.seq = snapshot.seq
        self._fold = fold = Fold(view, self.family.spec, self._on_step)
        for run in view.runs.values():
            if run.step >= 0:
                self._note(view, run)
        return fold

    def _events(self, fold: Fold, snapshot: Snapshot | None, records: Any) -> Iterator[Event]:
        after = snapshot.seq if snapshot is not None else 0
        for record in records:
            if record.seq <= after:
                continue
            at, events = self._ledger.codec.decode(record.body)
            self.seq = record.seq - len(events)
            for event in events:
                self._before(event)
                fold.apply(at, (event,))
                at = fold.view.at
                self.seq += 1
                self._after(event)
                yield event

    def events(self) -> Iterator[Event]:
        """Every event, folded so far."""
        snapshot, records = self.from_the_beginning()
        yield from self._events(self._begin(snapshot), snapshot, records)

    @property
    def view(self) -> ThreadView:
        assert self._fold is not None
        return self._fold.view

    def from_the_beginning(self) -> tuple[Snapshot | None, Any]:
        """Every record that there is, and the snapshot that stands for those that were pruned."""
        store, thread = self._ledger.store, self._ledger.thread
        assert store is not None
        records = store.read(thread)
        if records and self._is_first(records):
            return None, records
        snapshot = store.snapshot_before(thread, step=EVERY_STEP)
        while snapshot is not None:
            older = store.snapshot_before(thread, step=snapshot.step - 1)
            if older is None:
                break
            snapshot = older
        return snapshot, records

    def _is_first(self, records: Any) -> bool:
        first: Record = records[0]
        return first.seq == len(self._ledger.codec.decode(first.body)[1])

    # ------------------------------------------------------------------------------------ capturing
    def _before(self, event: Event) -> None:
        if type(event) is Started:
            self._hide_next = event.brief
        elif type(event) is Leapt and event.alone and event.run in self._latest:
            self._latest[event.run].hidden = True
        elif type(event) is Updated:
            self._hide_next = event.source == "command"

    def _on_step(self, view: ThreadView, run: RunView) -> None:
        if self._wanted is not None:
            if run.step == self._wanted:
                raise _Reached
            return
        self._note(view, run)

    def _note(self, view: ThreadView, run: RunView) -> None:
        namespace, parents = place_of(view, run)
        entry = Entry(
            run=run.id,
            ordinal=run.step,
            source=run.source,
            count=run.count,
            parent=run.parent_step,
            at=run.made_at,
            values=run.values,
            tasks=run.tasks,
            namespace=namespace,
            parents=parents,
            ran=run.ran,
            hidden=self._hide_next,
        )
        self._hide_next = False
        before = self._latest.get(run.id)
        if entry.hidden and before is not None and run.source == "loop":
            before.tasks = run.tasks  # what a command added belongs to the step that it came to
        self._latest[run.id] = entry
        self.entries.append(entry)
        for index, task in enumerate(run.tasks):
            self._by_journal[journal_key(run, index, task)] = (entry, index)

    def _after(self, event: Event) -> None:
        if type(event) is Asked:
            found = self._by_journal.get(f"{event.step}.{event.index}")
            if found is not None:
                entry, index = found
                entry.asked.setdefault(index, []).append(event.question)


def place_of(view: ThreadView, run: RunView) -> tuple[str, dict[str, int]]:
    """A run's namespace, and the steps of the runs around it."""
    chain: list[tuple[RunView, int]] = []
    found = task_of(view, run)
    while found is not None:
        chain.append(found)
        found = task_of(view, found[0])
    parts: list[str] = []
    parents: dict[str, int] = {}
    for parent, index in reversed(chain):
        parents["|".join(parts)] = parent.step
        parts.append(f"{parent.tasks[index].node}:{task_id(view.birth, parent.step, index)}")
    return "|".join(parts), parents
