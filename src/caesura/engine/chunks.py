"""What each stream mode shows of a run, in the shapes that its readers know.

Promises: chunks are copies: what a reader does to them changes no state. Nothing here runs when
nobody streams. Made by `engine.loop` for each graph at work; puts into `engine.stream`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caesura.core.control import INTERRUPT, START
from caesura.core.decide import is_finished
from caesura.core.forms import ROOT
from caesura.core.journals import journal_key
from caesura.core.state import known_values, view_for
from caesura.core.view import RunView, TaskView
from caesura.engine.naming import step_id, task_id
from caesura.engine.past import place_of
from caesura.engine.showing import config_of, instant, interrupt_of, result_of

if TYPE_CHECKING:
    from caesura.core.view import RunView
    from caesura.engine.calls import Beginning, Work
    from caesura.engine.crowds import Crowd
    from caesura.engine.endings import Ending


def own(value: Any) -> Any:
    """A copy of the containers; what is in them is shared."""
    cls = type(value)
    if cls is dict:
        return {k: own(v) for k, v in value.items()}
    if cls is list:
        return [own(v) for v in value]
    return set(value) if cls is set else value


class Chunks:
    """The chunks of one graph at work."""

    def __init__(self, work: Work) -> None:
        stream = work.call.stream
        assert stream is not None
        self._work, self._stream, self._namespace = work, stream, work.namespace
        self.is_live = stream.is_live and not work.performer.on_loop and work.parent is None
        self._shows_tasks = self._wants("tasks") or self._wants("debug")
        self._shown: set[str] = set()  # questions that the reader knows
        self._shows_steps = self._wants("checkpoints") or self._wants("debug")

    def _wants(self, mode: str) -> bool:
        return self._stream.wants(mode, self._namespace)

    def _put(self, mode: str, data: Any) -> None:
        self._stream.put(self._namespace, mode, data)

    async def hand_over(self) -> None:
        await self._stream.hand_over()

    def listen(self, crowd: Crowd | None) -> None:
        if self._work.parent is None:
            self._stream.crowd = crowd

    # ----------------------------------------------------------------------------------- beginnings
    def begin(self) -> None:
        """The call has begun: what it was given, and what earlier calls had finished."""
        run, beginning = self._work.run, self._work.beginning
        if beginning is not None and beginning.kind == "input":
            self._input(run, beginning)
            return
        self._checkpoint(run)
        self._put_values(run)
        if beginning is None and self._wants("updates"):
            self._finished_before(run)
            self.waiting(first=True)

    def _finished_before(self, run: RunView) -> None:
        """What earlier calls have finished of this step."""
        for task in run.tasks:
            if is_finished(task) and task.node != START and task.handled is None:
                shown = self._update(task.node, task.writes or [])
                self._put("updates", {**shown, "__metadata__": {"cached": True}})

    def _input(self, run: RunView, beginning: Beginning) -> None:
        if run.source == "input":  # its conditional edges have yet to run
            self._checkpoint(run)
            return
        if self._shows_steps:
            self._checkpoint_of_input(run, beginning)
            self._checkpoint(run)
        keys = self._stream.output_keys
        wrote = beginning.wrote
        if keys is not None and not self._namespace:
            wrote = wrote.intersection((keys,) if isinstance(keys, str) else keys)
        if wrote:
            self._put_values(run)

    def _put_values(self, run: RunView) -> None:
        """The state, where an entrypoint has one by now."""
        if self._wants("values") and not (self._work.plan.state.bare and ROOT not in run.values):
            self._put("values", self._values(run))

    # ---------------------------------------------------------------------------------------- tasks
    def task_begins(self, index: int) -> None:
        task = self._work.run.tasks[index]
        node = self._work.plan.nodes.get(task.node)
        if not self._shows_tasks or node is None:
            return
        given = (
            task.arg
            if task.sent
            else view_for(node.schema, self._work.run.values, self._work.steps_left)
        )
        self._task_event(
            "task",
            {
                "id": self._work.id_of(index),
                "name": task.node,
                "input": own(given),
                "triggers": ("__pregel_push",) if task.sent else (f"branch:to:{task.node}",),
            },
        )

    def task_ends(self, index: int, ending: Ending) -> None:
        """In order of their ends; what it wrote is, or is about to be, in the log."""
        work = self._work
        task = work.run.tasks[index]
        if task.node == START:
            return
        is_done = ending.goto is not None and ending.handled is None
        if is_done and self._wants("messages") and work.call.watch is not None:
            work.call.watch.said(self._namespace, work, index, ending.writes or [])  # type: ignore[attr-defined]
        if is_done and self._wants("updates"):
            self._put("updates", self._update(task.node, ending.writes or []))
        if self._shows_tasks:
            asked = work.questions_of(index)
            self._task_event(
                "task_result",
                {
                    "id": work.id_of(index),
                    "name": task.node,
                    "error": None if ending.error is None else repr(ending.error),
                    "result": own(result_of(ending.writes)) if is_done else {},
                    "interrupts": [{"value": own(q.payload), "id": q.id} for q in asked],
                },
            )

    def _update(self, node: str, writes: list[dict[str, Any]]) -> dict[str, Any]:
        shown = [selected for write in writes if (selected := self._selected(write)) != {}]
        if not shown:
            return {node: None}
        return {node: own(shown[0] if len(shown) == 1 else shown)}

    def _selected(self, write: dict[str, Any]) -> Any:
        if self._work.plan.state.bare:
            return write.get(ROOT)
        keys = self._stream.output_keys
        if keys is None or self._namespace:
            return write
        wanted = (keys,) if isinstance(keys, str) else keys
        return {k: v for k, v in write.items() if k in wanted}

    def _task_event(self, kind: str, payload: dict[str, Any]) -> None:
        self._put("tasks", payload)
        self._debug(self._work.run.count + 1, kind, payload)

    def _debug(self, step: int, kind: str, payload: Any) -> None:
        if self._wants("debug"):
            at = instant(self._work.call.ledger.view.at)
            self._put("debug", {"step": step, "timestamp": at, "type": kind, "payload": payload})

    # ---------------------------------------------------------------------------------------- steps
    def step_is_over(self) -> None:
        run = self._work.run
        self._put_values(run)
        self._checkpoint(run)

    def held(self) -> None:
        self._put("updates", {INTERRUPT: ()})

    def waiting(self, *, first: bool = False) -> None:
        """The run waits: show every question that is open, and that was not shown at `first`."""
        work, everything = self._work, []
        for index in range(len(work.run.tasks)):
            questions = work.questions_of(index)
            everything += questions
            if new := [q for q in questions if q.id not in self._shown]:
                self._put("updates", {INTERRUPT: tuple(interrupt_of(q) for q in new)})
                self._shown.update(q.id for q in new)
        if first:
            return
        if not everything and any(run.held for run in work.call.ledger.view.runs.values()):
            self._put("updates", {INTERRUPT: ()})
        if everything and self._wants("values"):
            values, asked = self._values(work.run), tuple(interrupt_of(q) for q in everything)
            shown = values if isinstance(values, dict) and not work.plan.state.bare else {}
            self._put("values", {**shown, INTERRUPT: asked})

    def _values(self, run: RunView) -> Any:
        state = self._work.plan.state
        values: Any = run.values.get(ROOT) if state.bare else known_values(state, run.values)
        keys = self._stream.output_keys
        if isinstance(values, dict) and keys is not None and not self._namespace:
            values = (
                values.get(keys)
                if isinstance(keys, str)
                else {k: v for k, v in values.items() if k in keys}
            )
        return own(values)

    # ---------------------------------------------------------------------------------- checkpoints
    def _checkpoint_of_input(self, run: RunView, beginning: Beginning) -> None:
        if beginning.before is None:
            return
        values, step, parent = beginning.before
        shown = {k: v for k, v in values.items() if k in self._work.plan.state.channels}
        before = RunView(
            run.id, run.graph, step=step, parent_step=parent, source="input", count=run.count - 1,
            values=shown, tasks=[TaskView(START)],
        )  # fmt: skip
        self._entry(before, asking=False)

    def _checkpoint(self, run: RunView) -> None:
        if self._shows_steps:
            self._entry(run, asking=True)

    def _entry(self, run: RunView, *, asking: bool) -> None:
        ledger = self._work.call.ledger
        thread, birth = ledger.thread, ledger.view.birth
        namespace, parents = place_of(ledger.view, self._work.run)
        parent = run.parent_step
        payload = {
            "config": config_of(thread, birth, run.step, namespace),
            "parent_config": config_of(thread, birth, parent, namespace)
            if parent is not None
            else None,
            "metadata": {
                "source": run.source,
                "step": run.count,
                "parents": {ns: step_id(birth, ordinal) for ns, ordinal in parents.items()},
            },
            "values": own(run.values.get(ROOT) if self._work.plan.state.bare else run.values),
            "next": [task.node for task in run.tasks],
            "tasks": [
                {
                    "id": task_id(birth, run.step, index),
                    "name": task.node,
                    "interrupts": self._asked(index) if asking else (),
                    "state": None,
                }
                for index, task in enumerate(run.tasks)
            ],
        }
        self._put("checkpoints", payload)
        self._debug(run.count, "checkpoint", payload)

    def _asked(self, index: int) -> tuple[dict[str, Any], ...]:
        """What a task has asked and nobody took back, also what was answered a moment ago."""
        work = self._work
        run = work.run
        journal = work.call.ledger.view.journals.get(journal_key(run, index, run.tasks[index]))
        asked = [a.question for a in journal.questions if a.status == "answered"] if journal else []
        asked += work.questions_of(index)
        return tuple({"value": own(q.payload), "id": q.id} for q in asked)
