"""A thread's past, read from its log: every step as it was, and the whole thread as of a step.

Promises: reads and folds, and changes nothing. Entries are in the order in which they were made;
those that were pruned away are none. Called by `engine.snapshots` for histories, by
`engine.rewinding` and by `engine.tidying`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from caesura.core.control import START
from caesura.core.events import (
    Answered,
    Asked,
    Event,
    Expired,
    Failed,
    Leapt,
    Rewound,
    Started,
    Stepped,
    Updated,
    Withdrawn,
)
from caesura.core.history import Fold
from caesura.core.journals import callers, journal_key
from caesura.core.parts import ErrorInfo, Question
from caesura.core.view import RunView, TaskView, ThreadView
from caesura.engine.damage import refuse_damage
from caesura.engine.families import Family
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
    hidden: bool = False  # part of another step's story: people are not shown it
    asked: dict[int, list[Question]] = field(default_factory=dict)  # by the index of a task
    failed: dict[int, ErrorInfo] = field(default_factory=dict)


@dataclass(slots=True)
class Inquiry:
    """A question that a task of a step asked itself, not deep inside of it."""

    index: int  # of the task
    question: Question
    at_once: bool  # before the task had any answer
    is_withdrawn: bool = False


class _Reached(Exception):
    """The step that was looked for has just been made."""


class Past:
    """The log of one thread, read again."""

    def __init__(self, graph: CompiledGraph, ledger: Ledger) -> None:
        self._ledger = ledger
        self.family = Family(graph.plan)
        self.entries: list[Entry] = []
        self.view = ThreadView()
        self._by_journal: dict[str, tuple[Entry, int]] = {}
        self._latest: dict[int, Entry] = {}
        self._wanted: int | None = None
        self._hide_next = False

    @classmethod
    def of(cls, graph: CompiledGraph, ledger: Ledger) -> Past:
        return cls(graph, ledger)

    # -------------------------------------------------------------------------------------- reading
    def read(self, since: int = 0) -> list[Entry]:
        """All entries from a step on, and perhaps some before it, oldest first."""
        for _ in self.events(since):
            pass
        return self.entries

    def events(self, since: int = 0) -> Iterator[Event]:
        """Every event since a step was made; `view` is the thread behind it."""
        snapshot, records = self._from(since)
        fold = self._begin(snapshot)
        self.view = fold.view
        self.entries.clear()  # what a snapshot stands for is before that, or was pruned
        for at, event in self._events(snapshot, records):
            try:
                before = self._before(event)
                fold.apply(fold.view.at if at is None else at, (event,))
                self._after(fold.view, event, before)
            except LookupError as error:
                refuse_damage(error, self._ledger.thread)
                raise
            yield event

    def view_at(self, ordinal: int) -> tuple[ThreadView, RunView] | None:
        """The whole thread at the moment when a step was made, and the run that made it."""
        snapshot, records = self._from(ordinal)
        self._wanted = ordinal
        fold = self._begin(snapshot)
        try:
            run = self._fold_up_to(ordinal, fold, self._events(snapshot, records))
        except LookupError as error:
            refuse_damage(error, self._ledger.thread)
            raise
        return None if run is None else (fold.view, run)

    def _fold_up_to(
        self, ordinal: int, fold: Fold, events: Iterator[tuple[int | None, Event]]
    ) -> RunView | None:
        run: RunView | None = None
        for at, event in events:
            if run is not None:
                if _ends_step(event, run):
                    break
                if _came_with_a_command(event):
                    fold.apply(fold.view.at, (event,))
                elif type(event) is Rewound:
                    as_of_then = event.state.runs[0]
                    run.values = as_of_then.values
                    del run.tasks[len(as_of_then.tasks) :]
                continue
            try:
                fold.apply(fold.view.at if at is None else at, (event,))
            except _Reached:
                run = next(run for run in fold.view.runs.values() if run.step == ordinal)
                if run.id != 0 or (type(event) is Started and _makes_another(event, run)):
                    break
        return run

    def asked_at(self, ordinal: int) -> list[Inquiry]:
        """What the tasks of a step asked as long as it was at hand, oldest first."""
        found: list[Inquiry] = []
        entry: Entry | None = None
        answered: set[int] = set()
        for event in self.events(ordinal):
            if entry is None:
                entry = next((e for e in self.entries if e.ordinal == ordinal), None)
                found += self._carried_into(entry) if entry is not None else ()
            elif isinstance(event, Asked):
                index = _place_of(entry, f"{event.step}.{event.index}")
                if index is not None:
                    gone = [i for i in found if i.question.id == event.replaces]
                    gone += [i for i in found if i.index == index and i.is_withdrawn]
                    found = [inquiry for inquiry in found if inquiry not in gone]
                    at_once = index not in answered or any(i.at_once for i in gone)
                    found.append(Inquiry(index, event.question, at_once))
            elif isinstance(event, Answered | Expired):
                answered |= {i.index for i in found if i.question.id == event.question}
            elif isinstance(event, Withdrawn):
                for inquiry in found:
                    inquiry.is_withdrawn |= inquiry.question.id == event.question
        return found

    def _carried_into(self, entry: Entry) -> list[Inquiry]:
        """What the tasks of a step that has just begun asked in an earlier one."""
        return [
            Inquiry(index, question, at_once=True)
            for index, questions in entry.asked.items()
            for question in questions
            if _place_of(entry, self.view.questions.get(question.id, "")) == index
        ]

    def _begin(self, snapshot: Snapshot | None) -> Fold:
        view = ThreadView()
        if snapshot is not None:
            view = self._ledger.codec.decode_view(snapshot.body)
        fold = Fold(view, self.family.spec, self._on_step)
        for run in view.runs.values():
            if run.step >= 0:
                self._note(view, run)
        return fold

    def _events(
        self, snapshot: Snapshot | None, records: Sequence[Record]
    ) -> Iterator[tuple[int | None, Event]]:
        """Every event that follows a snapshot; the first of a record with its time."""
        after = snapshot.seq if snapshot is not None else 0
        for record in records:
            if record.seq > after:
                at, events = self._ledger.codec.decode(record.body)
                for place, event in enumerate(events):
                    yield at if place == 0 else None, event

    def _from(self, step: int) -> tuple[Snapshot | None, Sequence[Record]]:
        """The latest snapshot from which a step can be reached, and the records that follow it."""
        store, thread = self._ledger.store, self._ledger.thread
        assert store is not None
        snapshot = store.snapshot_before(thread, step=step) if step else None
        if snapshot is None:
            return self.from_the_beginning()
        return snapshot, store.read(thread, snapshot.seq)

    def from_the_beginning(self) -> tuple[Snapshot | None, Sequence[Record]]:
        """Every record that there is, and the snapshot that stands for those that were pruned."""
        store, thread = self._ledger.store, self._ledger.thread
        assert store is not None
        records = store.read(thread)
        if records and self._is_first(records[0]):
            return None, records
        snapshot = store.snapshot_before(thread, step=EVERY_STEP)
        while snapshot is not None:
            older = store.snapshot_before(thread, step=snapshot.step - 1)
            if older is None:
                break
            snapshot = older
        return snapshot, records

    def _is_first(self, record: Record) -> bool:
        return record.seq == len(self._ledger.codec.decode(record.body)[1])

    # ------------------------------------------------------------------------------------ capturing
    def _before(self, event: Event) -> Entry | None:
        """Note what is about to happen; the entry that the event's run is at."""
        entry = self._latest.get(getattr(event, "run", -1))
        if type(event) is Started:
            self._hide_next = event.brief and event.next is not None
        elif type(event) is Leapt and event.alone and entry is not None:
            entry.hidden = True
        elif type(event) is Stepped and entry is not None:
            _take_in(entry)
        return entry

    def _on_step(self, view: ThreadView, run: RunView) -> None:
        if self._wanted is None:
            self._note(view, run)
        elif run.step == self._wanted:
            raise _Reached

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
            hidden=self._hide_next,
        )
        self._hide_next = False
        self._latest[run.id] = entry
        self.entries.append(entry)
        for index, task in enumerate(run.tasks):
            key = journal_key(run, index, task)
            self._by_journal[key] = (entry, index)
            if still_open := questions_below(view, key):
                entry.asked[index] = still_open

    def _after(self, view: ThreadView, event: Event, before: Entry | None) -> None:
        match event:
            case Asked():
                self._note_question(view, event)
            case Started() if event.next is not None:
                _take_in(self.entries[-2])
            case Failed():
                for entry in self._latest.values():
                    if entry.ordinal == event.step:
                        entry.failed[event.index] = event.error
            case Rewound():
                self._latest[event.run].hidden = event.kind == "update"
                for caller, index in callers(view, view.runs[event.run]):
                    entry = self._latest[caller.id]
                    entry.values, entry.tasks = caller.values, caller.tasks
                    entry.asked.pop(index, None)
            case Updated(source="command") if before is not None:
                before.values = view.runs[event.run].values
            case Updated() if before is not None:
                for node, writes, index in event.ran:
                    _give_result(before.tasks, node, writes, index)

    def _note_question(self, view: ThreadView, event: Asked) -> None:
        """A question is asked by its task, and by every task around it."""
        found = self._by_journal.get(f"{event.step}.{event.index}")
        if found is None:
            return
        places = [found]
        run = view.runs.get(found[0].run)
        for caller, index in callers(view, run) if run is not None else ():
            around = self._by_journal.get(journal_key(caller, index, caller.tasks[index]))
            places += [around] if around is not None else []
        for entry, index in places:
            asked = entry.asked.setdefault(index, [])
            asked[:] = [*(q for q in asked if q.id != event.replaces), event.question]


def _place_of(entry: Entry, journal: str) -> int | None:
    """Which task of a step a journal belongs to."""
    for index, task in enumerate(entry.tasks):
        step, place = task.origin or (entry.ordinal, index)
        if journal == f"{step}.{place}":
            return index
    return None


def _makes_another(event: Started, run: RunView) -> bool:
    """Whether a run that is at its input's step is at the next one when the event is over."""
    return run.source == "input" and event.next is not None


def _ends_step(event: Event, root: RunView) -> bool:
    """Whether an event makes the next step of the thread's own graph."""
    if isinstance(event, Rewound):  # an update of a child's older step leaves the steps around it
        is_inside = event.kind == "update" and event.run != 0
        return not is_inside or event.state.runs[0].step != root.step
    if isinstance(event, Started | Stepped | Leapt | Updated):
        return event.run == 0 and not _came_with_a_command(event)
    return False


def _came_with_a_command(event: Event) -> bool:
    """Whether an event is an update that belongs to the step at hand."""
    return isinstance(event, Updated) and event.run == 0 and event.source == "command"


def _take_in(entry: Entry) -> None:
    """The input of this entry has been taken in."""
    for task in entry.tasks[:1]:
        if task.node == START:
            task.goto = []


def _give_result(tasks: list[TaskView], node: str, writes: Any, index: int | None) -> None:
    """What somebody wrote as a node is the result of the task that was at hand, if one was."""
    found = tasks if index is None else tasks[index : index + 1]
    for task in found:
        if task.node == node and task.goto is None and (task.writes is None or node == START):
            task.writes, task.goto = writes, []
            return


def questions_below(view: ThreadView, key: str) -> list[Question]:
    """What the task of a journal asks and nobody has answered, also deep inside of it."""
    journal = view.journals.get(key)
    if journal is None:
        return []
    found = [asking.question for asking in journal.questions if asking.status == "open"]
    for child_id in journal.children.values():
        child = view.runs.get(child_id)
        for index, task in enumerate(child.tasks if child is not None else ()):
            assert child is not None
            found += questions_below(view, journal_key(child, index, task))
    return found


def place_of(view: ThreadView, run: RunView) -> tuple[str, dict[str, int]]:
    """A run's namespace, and the steps of the runs around it."""
    parts: list[str] = []
    parents: dict[str, int] = {}
    for caller, index in callers(view, run):
        parents["|".join(parts)] = caller.step
        parts.append(f"{caller.tasks[index].node}:{task_id(view.birth, caller.step, index)}")
    return "|".join(parts), parents
