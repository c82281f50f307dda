"""Make a graph's run go on, superstep by superstep, until it finishes, waits, is held or stopped.

Promises: a step is on disk (as far as the durability asks) before the next one starts; a finished
task is recorded as it finishes, whatever its siblings do. Everything else that a run does is here
in one function, `advance`, in the order in which it happens.
Called by the facade's calls and by `engine.children`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from caesura.core.control import START
from caesura.core.decide import Ended, held_by, is_finished, is_runnable, plan_next
from caesura.core.events import Failed, Held, Stepped, Stopped
from caesura.core.parts import Handling
from caesura.core.state import apply_writes, tracked
from caesura.engine.chunks import Chunks
from caesura.engine.endings import Ending
from caesura.engine.failures import describe, rebuild
from caesura.engine.logs import tell_step
from caesura.engine.settling import raise_first, settle_all, settle_only
from caesura.engine.tasks import run_at_once, run_task
from caesura.errors import (
    GraphRecursionError,
    NodeVanished,
    RecordTooLarge,
    UnserializableValue,
)

if TYPE_CHECKING:
    from caesura.core.view import RunView, TaskView
    from caesura.engine.calls import Work
    from caesura.engine.crowds import Crowd
    from caesura.engine.returns import Writes


async def advance(work: Work) -> None:
    """Go on as far as it goes. What it came to is in the view; failures are raised."""
    call, ledger = work.call, work.call.ledger
    chunks = Chunks(work) if call.stream is not None else None
    if chunks is not None:
        chunks.begin()
    while True:
        run = work.run
        if not run.tasks or call.is_stopping:
            return
        if work.caller is not None and work.caller.is_cut_off:
            return
        if ledger.view.stop is not None:
            ledger.stage(Stopped(ledger.view.stop))  # type: ignore[arg-type]
            return
        if run.error is not None or any(task.error is not None for task in run.tasks):
            _raise_recorded(run)
        holding = None if run.passed else held_by(work.plan, ledger.view, run)
        if run.held is not None or holding is not None:
            if holding is not None:
                ledger.stage(Held(work.run_id, *holding))
            if chunks is not None:
                chunks.held()
            return
        todo = [i for i in range(len(run.tasks)) if is_runnable(ledger.view, run, i)]
        only: Ending | None = None
        if todo:
            _check_nodes(work, run)
            if work.steps_left <= 0:
                raise _too_many(work)
            only = await _run_tasks(work, todo, chunks)
        if only is None and not all(is_finished(task) for task in run.tasks):
            if chunks is not None:
                chunks.waiting()
            return
        if run.tasks[0].node != START:
            work.steps_left -= 1
        _complete(work, run, only)
        tell_step(work)
        if chunks is not None:
            chunks.step_is_over()
        if work.run.tasks:
            await _commit(work)
            if chunks is not None:
                await chunks.hand_over()


def _raise_recorded(run: RunView) -> None:
    """A graph that a function called fails again as it failed before, until it is retried."""
    for info in (run.error, *(task.error for task in run.tasks)):
        if info is not None:
            raise rebuild(info)


def _check_nodes(work: Work, run: RunView) -> None:
    known = work.plan.nodes
    for task in run.tasks:
        if task.node not in known and not is_finished(task) and task.node != START:
            raise NodeVanished(work.call.ledger.thread, task.node, tuple(known))


def _too_many(work: Work) -> GraphRecursionError:
    return GraphRecursionError(
        f"Recursion limit of {work.budget} reached without hitting a stop condition: "
        f"{', '.join(repr(t.node) for t in work.run.tasks)} would be next. What was done is kept: "
        f"go on with invoke(None), or raise the limit with config={{'recursion_limit': ...}}."
    )


async def _commit(work: Work) -> None:
    call = work.call
    if call.durability == "sync":
        if work.performer.on_loop:
            await work.performer.commit(call.ledger)
        else:
            call.ledger.commit()
    elif call.durability == "async" and not call.ledger.commit_behind():
        await work.performer.commit(call.ledger, durable=False)


# ------------------------------------------------------------------------------------ running tasks
async def _run_tasks(work: Work, todo: list[int], chunks: Chunks | None) -> Ending | None:
    """Run them. What a step's only task gave comes back; what several gave is recorded."""
    if chunks is not None:
        for index in todo:
            chunks.task_begins(index)
        await chunks.hand_over()
    if len(work.run.tasks) == 1 and not (chunks is not None and chunks.is_live):
        ending = run_at_once(work, 0) or await run_task(work, 0)
        return settle_only(work, ending, chunks)
    await _run_side_by_side(work, todo, chunks)
    return None


async def _run_side_by_side(work: Work, todo: list[int], chunks: Chunks | None) -> None:
    jobs = [partial(run_task, work, index) for index in todo]
    crowd = work.performer.crowd(jobs, work.call.most_at_once)
    if chunks is not None:
        chunks.listen(crowd)
    endings: dict[int, Ending] = {}
    try:
        broken = await _gather(work, crowd, todo, endings, chunks)
    except BaseException:
        await crowd.leave()
        raise
    if chunks is not None:
        chunks.listen(None)
    if broken is not None:
        raise broken
    raise_first(endings)


async def _gather(
    work: Work, crowd: Crowd, todo: list[int], endings: dict[int, Ending], chunks: Chunks | None
) -> BaseException | None:
    """Record how each ends; what went wrong beside the tasks' own failures comes back."""
    broken: BaseException | None = None
    left = len(todo)
    while left:
        outcomes = await crowd.some()
        left -= len(outcomes)
        ended: dict[int, Ending] = {}
        for outcome in outcomes:
            if outcome.error is not None:
                broken = broken or outcome.error
            else:
                ended[todo[outcome.index]] = outcome.value
        endings |= settle_all(work, ended, chunks)
        if outcomes and left:
            await _commit(work)
        if chunks is not None:
            await chunks.hand_over()
    return broken


# ------------------------------------------------------------------------------- completing a step
def _complete(work: Work, run: RunView, only: Ending | None) -> None:
    """Apply what the step's tasks wrote, and plan the next step."""
    plan, ledger = work.plan, work.call.ledger
    if only is not None:
        writes: Writes = only.writes or []
        ended = [Ended(run.tasks[0].node, only.goto or ())]
    else:
        writes = [w for task in run.tasks for w in task.writes or ()]
        ended = [Ended(task.node, task.goto or (), _handling(work, task)) for task in run.tasks]
    values = only.after if only is not None else None
    if values is None:
        values = dict(run.values)
        try:
            apply_writes(plan.state, values, writes)
        except Exception as error:
            _step_failed(work, run, error)
            raise
    planning = plan_next(plan, run.joins, run.deferred, ended)
    inline = tracked(work.plan.state, writes) if only is not None else None
    event = Stepped(run.id, planning.next, inline, planning.joins, planning.deferred)
    try:
        ledger.stage(event, prepared=values)
    except (UnserializableValue, RecordTooLarge) as error:
        _step_failed(work, run, error)
        raise


def _step_failed(work: Work, run: RunView, error: Exception) -> None:
    index = 0 if len(run.tasks) == 1 and run.tasks[0].writes is None else -1
    work.call.ledger.stage(Failed(run.step, index, describe(error)))


def _handling(work: Work, task: TaskView) -> Handling | None:
    if task.handled is None:
        return None
    handler = work.plan.nodes[task.node].error_handler
    assert handler is not None
    return Handling(handler, task.node, task.handled)
