"""What a thread looks like: its state now, at a step, and at every step that it made.

Promises: reads only. The head shows what finished tasks of an unfinished step have written; a step
named by its id, and every entry of a history, shows the state as it was committed.
Called by the facade and by `engine.chunks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from caesura.core.control import START, Interrupt, PregelTask, StateSnapshot
from caesura.core.decide import is_finished
from caesura.core.forms import ROOT
from caesura.core.history import journal_key
from caesura.core.parts import ErrorInfo, Question
from caesura.core.plan import Plan
from caesura.core.state import apply_writes, known_values
from caesura.core.view import RunView, TaskView
from caesura.engine.failures import rebuild
from caesura.engine.naming import ordinal_of, step_id, task_id
from caesura.engine.past import Entry, Past, place_of
from caesura.errors import UnknownStep

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger

NOTHING = StateSnapshot({}, (), {}, None, None, None, (), ())


class Album:
    """Snapshots of one thread, in the words of its graph."""

    def __init__(self, graph: CompiledGraph, ledger: Ledger, namespace: str = "") -> None:
        self._graph, self._ledger, self._namespace = graph, ledger, namespace
        self._view = ledger.view

    # ----------------------------------------------------------------------------------------- now
    def now(self, *, subgraphs: bool = False) -> StateSnapshot:
        """The head."""
        run = self.run()
        if run is None:
            return self._nothing()
        return self._of_run(run, subgraphs)

    def run(self) -> RunView | None:
        """The run of the namespace that was asked for."""
        for run in self._view.runs.values():
            if run.step >= 0 and (run.id == 0) == (self._namespace == ""):
                if run.id == 0 or place_of(self._view, run)[0] == self._namespace:
                    return run
        return None

    def _nothing(self) -> StateSnapshot:
        return NOTHING._replace(config=self._config(None, self._namespace))

    def _of_run(self, run: RunView, subgraphs: bool) -> StateSnapshot:
        view = self._view
        plan = self._ledger.family.plan(view, run)
        self._ledger.fold.attach(run)
        values = run.values
        writes = [w for task in run.tasks if is_ended(task) for w in task.writes or ()]
        if plan is not None:
            values = known_values(plan.state, values)
            if writes and run.tasks[0].node != START:
                apply_writes(plan.state, values, writes)
        namespace, parents = place_of(view, run)
        tasks = tuple(self._task(run, i, namespace, subgraphs) for i in range(len(run.tasks)))
        waiting = [t for t in run.tasks if not is_finished(t) and not is_ended(t)]
        return StateSnapshot(
            values=shown(plan, values),
            next=tuple(t.node for t in waiting),
            config=self._config(run.step, namespace),
            metadata=self._metadata(run.source, run.count, parents),
            created_at=None if view.at == 0 else instant(self._made_at(run)),
            parent_config=None
            if run.parent_step is None
            else self._config(run.parent_step, namespace),
            tasks=tasks,
            interrupts=tuple(q for task in tasks for q in task.interrupts),
        )

    def _made_at(self, run: RunView) -> int:
        return run.made_at

    def _task(self, run: RunView, index: int, namespace: str, subgraphs: bool) -> PregelTask:
        view, task = self._view, run.tasks[index]
        journal = view.journals.get(journal_key(run, index, task))
        questions = [a.question for a in journal.questions if a.status == "open"] if journal else []
        children = [
            child
            for key in (journal.children.values() if journal else ())
            if (child := view.runs.get(key)) is not None and not child.finished
        ]
        state: Any = None
        asked = [interrupt_of(q) for q in questions]
        for child in children:
            inner = self._of_run(child, subgraphs)
            asked += inner.interrupts
            state = (
                inner
                if subgraphs
                else {
                    "configurable": {
                        "thread_id": self._ledger.thread,
                        "checkpoint_ns": inner.config["configurable"]["checkpoint_ns"],
                    }
                }
            )
        done = is_ended(task) and task.node != START
        return PregelTask(
            id=task_id(view.birth, run.step, index),
            name=task.node,
            path=path_of(task, index),
            error=error_in(task),
            interrupts=tuple(asked),
            state=state,
            result=result_of(task.writes) if done else None,
        )

    # ------------------------------------------------------------------------------------- the past
    def history(
        self,
        *,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """Every entry of the namespace, newest first."""
        entries = self._entries()
        bound = None if before is None else self._ordinal(before)
        given = 0
        for entry in reversed(entries):
            if limit is not None and given >= limit:
                return
            if bound is not None and entry.ordinal >= bound:
                continue
            snapshot = self._of_entry(entry, entries)
            if filter and any((snapshot.metadata or {}).get(k) != v for k, v in filter.items()):
                continue
            given += 1
            yield snapshot

    def at(self, step: str, *, subgraphs: bool = False) -> StateSnapshot:
        """One step, as it was committed."""
        ordinal = self._ordinal(step)
        entries = self._entries(every=True)
        for entry in entries:
            if entry.ordinal == ordinal:
                return self._of_entry(
                    entry, entries, head=self._is_head(ordinal), subgraphs=subgraphs
                )
        raise UnknownStep(self._ledger.thread, step)

    def _is_head(self, ordinal: int) -> bool:
        return any(run.step == ordinal for run in self._view.runs.values())

    def _ordinal(self, step: str) -> int:
        ordinal = ordinal_of(self._view.birth, step)
        if ordinal is None:
            raise UnknownStep(self._ledger.thread, step)
        return ordinal

    def _entries(self, *, every: bool = False) -> list[Entry]:
        past = Past.of(self._graph, self._ledger)
        self._past = past
        found = past.read()
        if every:
            return found
        return [e for e in found if not e.hidden and e.namespace == self._namespace]

    def _of_entry(
        self, entry: Entry, entries: Sequence[Entry], *, head: bool = False, subgraphs: bool = False
    ) -> StateSnapshot:
        plan = self._past.family.plan(self._view, RunView(id=entry.run, graph=""))
        if plan is None:
            plan = self._ledger.family.plan(self._view, RunView(id=entry.run, graph=""))
        run = (
            next((r for r in self._view.runs.values() if r.step == entry.ordinal), None)
            if head
            else None
        )
        if run is not None:
            tasks = tuple(
                self._task(run, i, entry.namespace, subgraphs) for i in range(len(run.tasks))
            )
        else:
            tasks = tuple(self._past_task(entry, i, entries) for i in range(len(entry.tasks)))
        values = entry.values if plan is None else known_values(plan.state, entry.values)
        if entry.source == "input" and entry.values == {}:
            values = {}
        return StateSnapshot(
            values=shown(plan, values),
            next=tuple(task.node for task in entry.tasks),
            config=self._config(entry.ordinal, entry.namespace),
            metadata=self._metadata(entry.source, entry.count, entry.parents),
            created_at=instant(entry.at),
            parent_config=self._parent(entry, entries),
            tasks=tasks,
            interrupts=tuple(q for task in tasks for q in task.interrupts),
        )

    def _parent(self, entry: Entry, entries: Sequence[Entry]) -> dict[str, Any] | None:
        """The nearest step before it that is shown."""
        everything = {e.ordinal: e for e in self._past.entries}
        ordinal = entry.parent
        while ordinal is not None:
            parent = everything.get(ordinal)
            if parent is None or not parent.hidden:
                return self._config(ordinal, entry.namespace)
            ordinal = parent.parent
        return None

    def _past_task(self, entry: Entry, index: int, entries: Sequence[Entry]) -> PregelTask:
        task = entry.tasks[index]
        birth = self._view.birth
        name = task_id(birth, entry.ordinal, index)
        namespace = f"{entry.namespace}|" if entry.namespace else ""
        child = f"{namespace}{task.node}:{name}"
        has_child = any(e.namespace == child for e in self._past.entries)
        return PregelTask(
            id=name,
            name=task.node,
            path=path_of(task, index),
            error=error_in(task),
            interrupts=tuple(interrupt_of(q) for q in entry.asked.get(index, ())),
            state={"configurable": {"thread_id": self._ledger.thread, "checkpoint_ns": child}}
            if has_child
            else None,
            result=result_of(task.writes) if task.writes is not None else None,
        )

    # ------------------------------------------------------------------------------------- its parts
    def _config(self, ordinal: int | None, namespace: str) -> dict[str, Any]:
        return config_of(self._ledger.thread, self._view.birth, ordinal, namespace)

    def _metadata(self, source: str, count: int, parents: Mapping[str, int]) -> dict[str, Any]:
        birth = self._view.birth
        return {
            "source": source,
            "step": count,
            "parents": {ns: step_id(birth, ordinal) for ns, ordinal in parents.items()},
        }


def config_of(thread: str, birth: str, ordinal: int | None, namespace: str = "") -> dict[str, Any]:
    """The config that names a thread, or one of its steps."""
    configurable: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": namespace}
    if ordinal is not None:
        configurable["checkpoint_id"] = step_id(birth, ordinal)
    return {"configurable": configurable}


def is_ended(task: TaskView) -> bool:
    """Whether a node's work is done, also when its conditional edges have yet to run."""
    return task.writes is not None and (task.goto is not None or task.node != START)


def shown(plan: Plan | None, values: Mapping[str, Any]) -> Any:
    """A state as people see it."""
    if plan is not None and plan.state.bare:
        return values.get(ROOT)
    return dict(values)


def interrupt_of(question: Question) -> Interrupt:
    deadline = None if question.deadline is None else instant(question.deadline)
    return Interrupt(question.payload, question.id, question.schema, question.key, deadline)


def result_of(writes: Sequence[Mapping[str, Any]] | None) -> Any:
    """What a task wrote, key by key; several writes of one key are said to be that."""
    found: dict[str, list[Any]] = {}
    for write in writes or ():
        for key, value in write.items():
            found.setdefault(key, []).append(value)
    result = {k: v[0] if len(v) == 1 else {"$writes": v} for k, v in found.items()}
    return result[ROOT] if set(result) == {ROOT} else result


def error_in(task: TaskView) -> Exception | None:
    info: ErrorInfo | None = task.error or task.handled
    return rebuild(info) if info is not None else None


def path_of(task: TaskView, index: int) -> tuple[Any, ...]:
    return ("push", index) if task.sent else ("pull", task.node)


def instant(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds")
