"""Fold events into a `ThreadView`: the only reader of a log.

Promises: pure and deterministic; needs the reducers of the graphs and nothing else, so an edited
graph cannot change the past. Folding is in place: a view belongs to whoever folds it. A run whose
reducers are not known here keeps its writes as a backlog until `attach` brings them.
Called by the engine's ledger and by everything that reads a thread's past.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from caesura.core import events as ev
from caesura.core.control import START
from caesura.core.journals import JournalFold, callers, forget_journal, journal_key
from caesura.core.plan import StateSpec
from caesura.core.state import apply_writes, start_values
from caesura.core.tasks import planned_tasks
from caesura.core.view import RunView, TaskView, ThreadView

Values = dict[str, Any]
Writes = list[dict[str, Any]]
Specs = Callable[[ThreadView, RunView], StateSpec | None]
OnStep = Callable[[ThreadView, RunView], None]


class Fold(JournalFold):
    """Folds the events of one thread. `prepared` hands over values that were already reduced."""

    __slots__ = ("_on_step", "_specs", "prepared", "view")

    def __init__(self, view: ThreadView, specs: Specs, on_step: OnStep | None = None) -> None:
        self.view = view
        self._specs = specs
        self._on_step = on_step
        self.prepared: Values | None = None

    def apply(self, at: int, events: Sequence[ev.Event]) -> None:
        """Fold one record: its events happened at `at` and the microseconds after it."""
        view = self.view
        for event in events:
            view.at = at
            _FOLDERS[type(event)](self, event)
            at = view.at + 1
        view.at = at

    def attach(self, run: RunView) -> None:
        """Reduce what waited for this run's reducers, which are known by now."""
        if run.backlog is not None and (spec := self._specs(self.view, run)) is not None:
            backlog, run.backlog = run.backlog, None
            values = {**start_values(spec), **run.values}
            for writes in backlog:
                apply_writes(spec, values, writes)
            run.values = values

    # ------------------------------------------------------------------------------------- steps
    def _step(
        self, run: RunView, tasks: list[TaskView], *, ran: list[str], source: str, ordinals: int = 1
    ) -> None:
        view = self.view
        if run.tasks and (view.journals or view.questions):
            kept = {journal_key(run, i, t) for i, t in enumerate(tasks) if t.origin is not None}
            for index, task in enumerate(run.tasks):
                key = journal_key(run, index, task)
                if key not in kept:
                    forget_journal(view, key)
        parent = run.step if run.follows is None else run.follows
        run.parent_step, run.follows = parent if parent >= 0 else None, None
        view.steps += ordinals
        run.step, run.made_at = view.steps - 1, view.at
        run.count += ordinals
        run.tasks, run.ran, run.source = tasks, ran, source
        run.held, run.passed, run.error = None, False, None
        if self._on_step is not None:
            self._on_step(view, run)

    def _write(self, run: RunView, writes: Writes) -> None:
        if self.prepared is not None:
            run.values, self.prepared = self.prepared, None
            return
        if run.backlog is None and (spec := self._specs(self.view, run)) is not None:
            run.values = dict(run.values)
            apply_writes(spec, run.values, writes)
        else:
            run.backlog = [*(run.backlog or ()), writes]

    def opened(self, event: ev.Opened) -> None:
        view = self.view
        view.birth, view.graph, view.reducers = event.birth, event.graph, event.reducers

    def started(self, event: ev.Started) -> None:
        view = self.view
        run = view.runs.get(event.run)
        if run is None:
            run = view.runs[event.run] = RunView(id=event.run, graph=view.graph)
            view.next_run = max(view.next_run, event.run + 1)
        if run.step < 0:
            spec = self._specs(view, run)
            if spec is None:
                run.backlog = run.backlog or []
            else:
                run.values = {**start_values(spec), **run.values}
        if event.request is not None:
            view.requests[event.request] = event.request_digest or ""
        run.before, run.after = event.breakpoints or ([], [])
        run.deferred = []  # half a join is kept: its other half may come in a later call
        run.finished, run.output, run.command = False, None, None
        view.stopped = None
        self._step(run, [TaskView(node=START, writes=event.writes)], ran=[], source="input")
        if event.next is not None:
            view.at += 1
            run.joins, run.deferred = {**run.joins, **(event.joins or {})}, event.deferred or []
            if event.brief:
                run.follows = _before(run)
            self._write(run, event.writes)
            self._step(run, planned_tasks(event.next), ran=[], source="loop")

    def stepped(self, event: ev.Stepped) -> None:
        run = self.view.runs[event.run]
        if event.writes is not None:
            writes = run.tasks[0].writes = event.writes
        elif len(run.tasks) == 1:
            writes = run.tasks[0].writes or []
        else:
            writes = [w for task in run.tasks for w in task.writes or ()]
        self._write(run, writes)
        run.joins, run.deferred = event.joins or {}, event.deferred or []
        ran = [t.node for t in run.tasks if t.node != START]
        self._step(run, planned_tasks(event.next), ran=ran, source="loop")
        if not event.next:
            run.before, run.after = [], []

    def done(self, event: ev.Done) -> None:
        task = self._task(event.step, event.index)
        task.writes, task.goto, task.handled = event.writes, event.goto, event.handled
        task.commanded, task.error, task.stale = event.commanded, None, False

    def leapt(self, event: ev.Leapt) -> None:
        run = self.view.runs[event.run]
        run.values = {**run.values, **event.changed}
        run.joins, run.deferred = event.joins or {}, event.deferred or []
        if event.alone:
            run.follows = _before(run)
        tasks = planned_tasks(event.next)
        self._step(run, tasks, ran=event.ran, source="loop", ordinals=event.steps)
        if not event.next:
            run.before, run.after = [], []

    # ---------------------------------------------------------------------------------- child runs
    def entered(self, event: ev.Entered) -> None:
        view = self.view
        child = RunView(
            id=view.next_run,
            graph=event.graph,
            parent=[event.step, event.index],
            key=event.key,
            space=event.space,
            keeps=event.keeps,
            aside=event.aside,
            router=event.router,
        )
        if event.keeps:
            child.values = dict(view.kept.get(event.space, {}))
        view.next_run += 1
        view.runs[child.id] = child
        self._journal(event.step, event.index).children[event.key] = child.id

    def left(self, event: ev.Left) -> None:
        run = self.view.runs[event.run]
        run.finished, run.output, run.command = True, event.output, event.command
        if run.keeps:
            self.attach(run)
            self.view.kept[run.space] = run.values
        run.values, run.tasks = {}, []

    # ------------------------------------------------------------------------------------- journals
    def _task(self, step: int, index: int) -> TaskView:
        for run in self.view.runs.values():
            if run.step == step:
                return run.tasks[index]
        raise LookupError(f"no task {step}.{index}")

    # ------------------------------------------------------------------------ failing, going back
    def failed(self, event: ev.Failed) -> None:
        if event.index < 0:
            for run in self.view.runs.values():
                if run.step == event.step:
                    run.error = event.error
            return
        task = self._task(event.step, event.index)
        task.error, task.attempts = event.error, event.attempts
        task.router_failed = event.router

    def retried(self, event: ev.Retried) -> None:
        view = self.view
        if event.task is not None:
            for run in view.runs.values():
                if run.step == event.task[0]:
                    self._try_again(run, event.task[1])
                    return
        for run in list(view.runs.values()):
            if run.error is not None:  # what its tasks wrote cannot be joined: they run again
                run.error = None
                for task in run.tasks:
                    task.writes = task.goto = task.commanded = task.handled = None
            for index in range(len(run.tasks)):
                self._try_again(run, index)

    def _try_again(self, run: RunView, index: int) -> None:
        """Forget that a task failed, with the failures of its effects and of the runs below it."""
        task = run.tasks[index]
        task.error = None
        journal = self.view.journals.get(journal_key(run, index, task))
        if journal is None:
            return
        journal.recordings = [r for r in journal.recordings if r.error is None]
        for asking in journal.questions:
            asking.question.changes = 0
        for child_id in journal.children.values():
            child = self.view.runs.get(child_id)
            if child is not None:
                child.error = None
                for place in range(len(child.tasks)):
                    self._try_again(child, place)

    def reread(self, event: ev.Reread) -> None:
        self._task(event.step, event.index).stale = False

    def updated(self, event: ev.Updated) -> None:
        run = self.view.runs.get(event.run)
        if run is None:
            run = self.view.runs[event.run] = RunView(id=event.run, graph=self.view.graph)
            self.view.next_run = max(self.view.next_run, event.run + 1)
        is_new = run.step < 0
        if is_new and (spec := self._specs(self.view, run)) is not None:
            run.values = start_values(spec)
        self._write(run, event.writes)
        run.joins, run.deferred = event.joins or {}, event.deferred or []
        if event.source == "command" and not is_new:
            # No step of its own: the tasks at hand go on, and look at the state again.
            for task in run.tasks:
                task.stale = task.writes is None
            run.tasks += planned_tasks(event.next)
        else:
            run.count = max(run.count, -1)
            ran = [str(place[0]) for place in event.ran if place[0] != START]
            self._step(run, planned_tasks(event.next), ran=ran, source=event.source)
        run.finished = False

    def rewound(self, event: ev.Rewound) -> None:
        view, past = self.view, event.state
        counters = view.steps, max(view.next_run, past.next_run), view.at
        now = {run.id: run.step for run in view.runs.values()}
        birth, graph, requests = view.birth, view.graph, view.requests
        reducers, before, after = view.reducers, view.before, view.after
        for name in ThreadView.__struct_fields__:
            setattr(view, name, getattr(past, name))
        view.steps, view.next_run, view.at = counters
        view.birth, view.graph, view.requests = birth, graph, requests
        view.reducers, view.before, view.after = reducers, before, after
        run = view.runs[event.run]
        for caller, _ in callers(view, run):
            if event.kind != "update" or caller.step != now.get(caller.id):
                self._again(caller)
        if event.kind == "copy":
            run.follows = _before(run) if event.origin is None else -1
        self._again(run)
        if event.kind == "update":  # the update, or the input, is what people see
            run.count, run.follows = run.count - 1, event.to_step

    def _again(self, run: RunView) -> None:
        """Make the step at hand once more, with the journals that its tasks have."""
        journals, before, tasks = self.view.journals, run.step, run.tasks
        run.tasks, run.before, run.after = [], [], []
        self._step(run, tasks, ran=run.ran, source="fork")
        for index, task in enumerate(tasks):
            journal = None if task.origin else journals.pop(f"{before}.{index}", None)
            if journal is not None:
                journals[f"{run.step}.{index}"] = journal
                for child in journal.children.values():
                    self.view.runs[child].parent = [run.step, index]
                for asking in journal.questions:
                    self.view.questions[asking.question.id] = f"{run.step}.{index}"

    # ------------------------------------------------------------------------ holding and stopping
    def held(self, event: ev.Held) -> None:
        self.view.runs[event.run].held = event.where

    def went_on(self, event: ev.WentOn) -> None:
        run = self.view.runs[event.run]
        run.held, run.passed, self.view.stopped = None, True, None

    def breakpoints_set(self, event: ev.BreakpointsSet) -> None:
        target = self.view if event.scope == "thread" else self.view.runs.get(0)
        if target is not None:
            target.before, target.after = event.before, event.after

    def stop_requested(self, event: ev.StopRequested) -> None:
        self.view.stop, self.view.stop_reason = event.kind, event.reason

    def stopped(self, event: ev.Stopped) -> None:
        self.view.stop, self.view.stopped = None, event.kind

    def unseen(self, event: ev.Event) -> None:
        """Events that tell people something and change nothing."""


def _before(run: RunView) -> int:
    """For a step that takes the place of the one at hand: the step that it follows."""
    return -1 if run.parent_step is None else run.parent_step


_FOLDERS: dict[type, Callable[[Fold, Any], None]] = {
    ev.Opened: Fold.opened,
    ev.Started: Fold.started,
    ev.Stepped: Fold.stepped,
    ev.Done: Fold.done,
    ev.Leapt: Fold.leapt,
    ev.Entered: Fold.entered,
    ev.Left: Fold.left,
    ev.Recorded: Fold.recorded,
    ev.Settled: Fold.settled,
    ev.Asked: Fold.asked,
    ev.Answered: Fold.answered,
    ev.Withdrawn: Fold.withdrawn,
    ev.Expired: Fold.expired,
    ev.Failed: Fold.failed,
    ev.Retried: Fold.retried,
    ev.Updated: Fold.updated,
    ev.Rewound: Fold.rewound,
    ev.Held: Fold.held,
    ev.WentOn: Fold.went_on,
    ev.BreakpointsSet: Fold.breakpoints_set,
    ev.StopRequested: Fold.stop_requested,
    ev.Stopped: Fold.stopped,
    ev.Pruned: Fold.unseen,
    ev.Given: Fold.unseen,
    ev.Reread: Fold.reread,
}
