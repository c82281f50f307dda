"""What a thread looks like: its state now, at a step, and at every step that it made.

Promises: reads only. The head shows what finished tasks of an unfinished step have written; a step
named by its id, and every entry of a history, shows the state as it was committed.
Called by the facade and by `engine.chunks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from caesura.core.control import START, PregelTask, StateSnapshot
from caesura.core.decide import is_finished
from caesura.core.journals import journal_key
from caesura.core.plan import Plan
from caesura.core.state import apply_writes, known_values
from caesura.core.view import RunView
from caesura.engine.naming import ordinal_of, step_id, task_id
from caesura.engine.past import Entry, Past, place_of, questions_below
from caesura.engine.showing import (
    config_of,
    error_in,
    instant,
    interrupt_of,
    is_ended,
    path_of,
    result_of,
    shown,
)
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
        self._read: Past | None = None
        self._shown: dict[str, list[Entry]] = {}  # by namespace, without those that are hidden

    # ----------------------------------------------------------------------------------------- now
    def now(self, *, subgraphs: bool = False) -> StateSnapshot:
        """The head."""
        run = self.run()
        if run is not None and not run.finished:
            return self._of_run(run, subgraphs)
        if self._namespace and (entries := self._entries(self._namespace)):
            return self._of_entry(entries[-1])
        return self._remembered()

    def run(self) -> RunView | None:
        """The run of the namespace that was asked for; of several, the one that is at work."""
        if self._namespace == "":
            root = self._view.runs.get(0)
            return root if root is not None and root.step >= 0 else None
        found = [
            run
            for run in self._view.runs.values()
            if run.id != 0 and run.step >= 0 and place_of(self._view, run)[0] == self._namespace
        ]
        found.sort(key=lambda run: (not run.finished, run.id))
        return found[-1] if found else None

    def _remembered(self) -> StateSnapshot:
        """What a child graph with a memory of its own keeps while it is not at work."""
        nothing = NOTHING._replace(config=self._config(None, self._namespace))
        names = [part.partition(":")[0] for part in self._namespace.split("|")]
        kept = self._view.kept.get("/" + "/".join(names))
        return nothing if kept is None else nothing._replace(values=dict(kept))

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
        tasks = tuple(self._task(plan, run, i, namespace, subgraphs) for i in range(len(run.tasks)))
        waiting = [t for t in run.tasks if not is_finished(t)]
        return StateSnapshot(
            values=shown(plan, values),
            next=tuple(t.node for t in waiting),
            config=self._config(run.step, namespace),
            metadata=self._metadata(run.source, run.count, parents),
            created_at=instant(run.made_at),
            parent_config=self._parent(run.parent_step, namespace),
            tasks=tasks,
            interrupts=tuple(q for task in tasks for q in task.interrupts),
        )

    def _task(
        self, plan: Plan | None, run: RunView, index: int, namespace: str, subgraphs: bool
    ) -> PregelTask:
        view, task = self._view, run.tasks[index]
        key = journal_key(run, index, task)
        name = task_id(view.birth, run.step, index)
        inside = _joined(namespace, f"{task.node}:{name}")
        journal = view.journals.get(key)
        state: Any = None
        if (journal is not None and journal.children) or _has_graph(plan, task.node):
            state = self._config(None, inside)
            if subgraphs:
                state = Album(self._graph, self._ledger, inside).now(subgraphs=True)
        done = is_ended(task) and task.node != START
        return PregelTask(
            id=name,
            name=task.node,
            path=path_of(task, index),
            error=error_in(task),
            interrupts=tuple(interrupt_of(q) for q in questions_below(view, key)),
            state=state,
            result=result_of(task.writes) if done else None,
        )

    # ------------------------------------------------------------------------------------- the past
    def history(
        self,
        *,
        wanted: Mapping[str, Any] | None = None,
        step: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """Every entry of the namespace, newest first, or only the one that `step` names."""
        only = None if step is None else self._ordinal(step)
        bound = None if before is None else self._ordinal(before)
        given = 0
        for entry in reversed(self._entries(self._namespace)):
            if limit is not None and given >= limit:
                return
            if bound is not None and entry.ordinal >= bound:
                continue
            if only is not None and entry.ordinal != only:
                continue
            snapshot = self._of_entry(entry)
            if wanted and any((snapshot.metadata or {}).get(k) != v for k, v in wanted.items()):
                continue
            given += 1
            yield snapshot

    def at(self, step: str, *, subgraphs: bool = False) -> StateSnapshot:
        """One step, as it was committed."""
        ordinal = self._ordinal(step)
        for entry in self._past(since=ordinal).entries:
            if entry.ordinal == ordinal:
                return self._of_entry(entry, subgraphs=subgraphs)
        raise UnknownStep(self._ledger.thread, step)

    def _ordinal(self, step: str) -> int:
        ordinal = ordinal_of(self._view.birth, step)
        if ordinal is None:
            raise UnknownStep(self._ledger.thread, step)
        return ordinal

    def _past(self, since: int = 0) -> Past:
        if self._read is None:
            self._read = Past(self._graph, self._ledger)
            for entry in self._read.read(since):
                if not entry.hidden:
                    self._shown.setdefault(entry.namespace, []).append(entry)
        return self._read

    def _entries(self, namespace: str) -> list[Entry]:
        self._past()
        return self._shown.get(namespace, [])

    def _of_entry(self, entry: Entry, *, subgraphs: bool = False) -> StateSnapshot:
        past = self._past()
        plan = past.family.plan(self._view, RunView(id=entry.run, graph=""))
        at_hand = [r for r in self._view.runs.values() if r.step == entry.ordinal and r.tasks]
        tasks = tuple(
            self._task(plan, run, index, entry.namespace, subgraphs)
            for run in at_hand
            for index in range(len(run.tasks))
        ) or tuple(
            self._past_task(plan, entry, index, subgraphs) for index in range(len(entry.tasks))
        )
        values = entry.values if plan is None else known_values(plan.state, entry.values)
        return StateSnapshot(
            values=shown(plan, values),
            next=tuple(task.node for task in entry.tasks),
            config=self._config(entry.ordinal, entry.namespace),
            metadata=self._metadata(entry.source, entry.count, entry.parents),
            created_at=instant(entry.at),
            parent_config=self._parent(entry.parent, entry.namespace),
            tasks=tasks,
            interrupts=tuple(q for task in tasks for q in task.interrupts),
        )

    def _past_task(
        self, plan: Plan | None, entry: Entry, index: int, subgraphs: bool
    ) -> PregelTask:
        task = entry.tasks[index]
        name = task_id(self._view.birth, entry.ordinal, index)
        inside = _joined(entry.namespace, f"{task.node}:{name}")
        within = self._entries(inside)
        state: Any = None
        if within or _has_graph(plan, task.node):
            state = self._config(None, inside)
            if subgraphs and within:
                state = self._of_entry(within[-1], subgraphs=True)
        return PregelTask(
            id=name,
            name=task.node,
            path=path_of(task, index),
            error=error_in(task, entry.failed.get(index)),
            interrupts=tuple(interrupt_of(q) for q in entry.asked.get(index, ())),
            state=state,
            result=result_of(task.writes) if is_ended(task) and not task.handled else None,
        )

    # ------------------------------------------------------------------------------------ its parts
    def _config(self, ordinal: int | None, namespace: str) -> dict[str, Any]:
        return config_of(self._ledger.thread, self._view.birth, ordinal, namespace)

    def _parent(self, ordinal: int | None, namespace: str) -> dict[str, Any] | None:
        return None if ordinal is None else self._config(ordinal, namespace)

    def _metadata(self, source: str, count: int, parents: Mapping[str, int]) -> dict[str, Any]:
        birth = self._view.birth
        return {
            "source": source,
            "step": count,
            "parents": {ns: step_id(birth, ordinal) for ns, ordinal in parents.items()},
        }


def _joined(namespace: str, part: str) -> str:
    return f"{namespace}|{part}" if namespace else part


def _has_graph(plan: Plan | None, name: str) -> bool:
    """Whether a node is a graph, or its function is known to call one, that keeps its steps."""
    graphs = plan.children.get(name, ()) if plan is not None else ()
    return any(not graph.keeps_nothing for graph in graphs)
