"""Run one task: its node with retries, then its conditional edges; tell what became of it.

Promises: whether a pass waits, failed or finished is read from its journal first and from its code
second, so a pause that was eaten is a pause. What a pass asked is staged when it ends. A pause, a
cancelled call and a command to the parent are no failures. Does not promise: to record results;
that is `engine.loop`'s part.
"""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from caesura.core.events import Retried
from caesura.core.retry import may_try_again, next_delay, policy_for
from caesura.core.state import view_for
from caesura.engine.context import injected
from caesura.engine.endings import WAITS, Ending, open_scope, pause
from caesura.engine.failures import describe
from caesura.engine.logs import LOG, ids_of
from caesura.engine.passes import call_anywhere, call_in_place, pass_in_place, pass_through
from caesura.engine.patience import patience_for
from caesura.engine.performer import in_thread
from caesura.engine.returns import read_command, read_returned
from caesura.engine.routes import route, route_in_place
from caesura.engine.scopes import Scope
from caesura.errors import ParentCommand, Suspended

if TYPE_CHECKING:
    from caesura.core.plan import Node
    from caesura.core.view import TaskView
    from caesura.engine.calls import Work
    from caesura.engine.mutations import StateWatch


def run_at_once(work: Work, index: int) -> Ending | None:
    """The short way for what most supersteps are: one sync node, with sync edges, in this thread.

    None: this task has to go the long way, through `run_task`.
    """
    run = work.run
    task = run.tasks[index]
    name = task.node
    if task.writes is not None or task.timeout is not None:
        return None
    is_short = work.short.get(name)
    if is_short is None:
        is_short = work.short[name] = _is_short(work, name, task)
    if not is_short:
        return None
    ending = _run_plainly(open_scope(work, index, task), work.plan.nodes[name], task)
    branches = work.plan.branches.get(name)
    if branches is None or ending.writes is None or ending.handled is not None:
        return ending
    scope = open_scope(work, index, task, router=True)
    return route_in_place(scope, task, branches, ending.writes, ending.goto or [])


def _is_short(work: Work, name: str, task: TaskView) -> bool:
    """Whether passes through a node and its edges are plain calls, as far as the plan tells."""
    node = work.plan.nodes.get(name)
    return (
        node is not None
        and not work.performer.on_loop
        and not node.retry
        and _is_plain(work, node, task)
        and not any(branch.is_async for branch in work.plan.branches.get(name, ()))
    )


async def run_task(work: Work, index: int) -> Ending:
    """One pass through a task, as far as it gets."""
    task = work.run.tasks[index]
    if task.writes is not None:
        return await route(work, index, task, task.writes, task.commanded or [])
    at_once = run_at_once(work, index)
    if at_once is not None:
        return at_once
    node = work.plan.nodes[task.node]
    if work.performer.on_loop and not node.retry and _is_plain(work, node, task):
        return await _run_off_the_loop(work, index, task, node)
    ending = await _run_node(work, index, task, node)
    if ending.writes is None or ending.handled is not None:
        return ending
    if task.node not in work.plan.branches:
        return ending
    return await route(work, index, task, ending.writes, ending.goto or [])


async def _run_off_the_loop(work: Work, index: int, task: TaskView, node: Node) -> Ending:
    """A sync node of an async call, and its sync edges with it, in one trip to a thread."""
    branches = work.plan.branches.get(task.node, ())
    has_sync_edges = not any(branch.is_async for branch in branches)
    scopes = [open_scope(work, index, task)]
    is_left = False

    def there() -> Ending:
        scopes[0].thread = threading.get_ident()
        ending = _run_plainly(scopes[0], node, task)
        if ending.writes is None or ending.handled is not None or not branches:
            return ending
        if not has_sync_edges:
            return ending
        scopes.append(open_scope(work, index, task, router=True))
        if is_left:
            return ending
        writes, goto = ending.writes, ending.goto or []
        return route_in_place(scopes[1], task, branches, writes, goto)

    import asyncio

    context = copy_context()
    try:
        ending: Ending = await in_thread(lambda: context.run(there))
    except asyncio.CancelledError as error:
        is_left = True
        for scope in scopes:
            scope.give_up(error)
            await work.performer.to_the_end(scope.seal_on_loop())
        raise
    if ending.writes is None or ending.handled is not None or has_sync_edges:
        return ending
    return await route(work, index, task, ending.writes, ending.goto or [])


# ----------------------------------------------------------------------------------------- the node
def _run_plainly(scope: Scope, node: Node, task: TaskView) -> Ending:
    """Plain sync code without retries, in this thread: what most nodes are."""
    work = scope.work
    try:
        value = pass_in_place(scope, lambda: _pass(scope, node, task))
        returned = read_returned(work.plan, task.node, value, work.call.ids.new)
    except (Exception, Suspended) as error:  # noqa: BLE001 - it becomes the task's ending
        return _unsuccessful(scope, node, task, error, 1)
    return Ending(returned.writes, returned.goto)


async def _run_node(work: Work, index: int, task: TaskView, node: Node) -> Ending:
    call, attempt = work.call, 0
    first_at = call.clock.now()
    is_plain = _is_plain(work, node, task) and not work.performer.on_loop
    while True:
        attempt += 1
        scope = open_scope(work, index, task, attempt=attempt, first_at=first_at)
        try:
            if is_plain:
                value = pass_in_place(scope, lambda: _pass(scope, node, task))  # noqa: B023
            else:
                value = await pass_through(scope, lambda: _call_node(scope, node, task))  # noqa: B023
            returned = read_returned(work.plan, task.node, value, call.ids.new)
            return Ending(returned.writes, returned.goto, attempts=attempt)
        except (Exception, Suspended) as error:  # noqa: BLE001 - it becomes the task's ending
            delay = _delay(scope, node, error, attempt)
            if delay is None:
                return _unsuccessful(scope, node, task, error, attempt)
            _forget_failures(scope, error, delay)
        await work.performer.sleep(call.clock, delay)


def _forget_failures(scope: Scope, error: BaseException, delay: float) -> None:
    """Before another attempt: effects that failed may be tried again with it."""
    ledger = scope.work.call.ledger
    if scope.key in ledger.view.journals:
        ledger.stage(Retried(task=[scope.step, scope.index]))
    LOG.info(
        "thread %r: node %r failed with %r and is tried again in %.3g s (attempt %d)",
        ledger.thread,
        scope.node,
        error,
        delay,
        scope.attempt,
        extra=ids_of(scope.work, scope.index),
    )


def _unsuccessful(
    scope: Scope, node: Node, task: TaskView, error: BaseException, attempts: int
) -> Ending:
    """How a task ends whose pass has raised: it waits, commands its parent, or failed."""
    if isinstance(error, Suspended):
        pause(scope, task)
        return WAITS
    if isinstance(error, ParentCommand):
        if error.args[0].graph is not None:
            return Ending(leaves=error)
        work = scope.work
        own = read_command(work.plan, task.node, error.args[0], work.call.ids.new)
        return Ending(own.writes, own.goto, attempts=attempts)
    assert isinstance(error, Exception)
    return _failed(scope, node, error, attempts)


def _delay(scope: Scope, node: Node, error: BaseException, attempts: int) -> float | None:
    """Seconds until the next attempt; None: what happened is how the task ends."""
    if isinstance(error, Suspended | ParentCommand):
        return None
    policy = policy_for(node.retry, error) if node.retry else None
    if policy is None or not may_try_again(policy, attempts):
        return None
    return next_delay(policy, attempts, scope.work.call.ids.chance())


def _failed(scope: Scope, node: Node, error: Exception, attempts: int) -> Ending:
    scope.stage_questions()
    if node.error_handler is None:
        return Ending(error=error, attempts=attempts)
    info = describe(error)
    scope.work.call.failures[id(info)] = (info, error)
    return Ending([], [], handled=info, error=error, attempts=attempts)


def _pass(scope: Scope, node: Node, task: TaskView) -> Any:
    """A pass of a node that the short way is open to."""
    kwargs = injected(node.inject, scope, task) if node.inject else {}
    args = (_view(scope, node, task),) if node.takes_state else ()
    watch = _watch(scope)
    value = call_in_place(scope, node.action, args, kwargs)
    if watch is not None:
        watch.check()
    return value


def _watch(scope: Scope) -> StateWatch | None:
    if not scope.work.call.graph.debug:
        return None
    from caesura.engine.mutations import StateWatch

    return StateWatch(scope)


def _view(scope: Scope, node: Node, task: TaskView) -> Any:
    """What the node is called with."""
    work = scope.work
    return task.arg if task.sent else view_for(node.schema, work.run.values, work.steps_left)


async def _call_node(scope: Scope, node: Node, task: TaskView) -> Any:
    view = _view(scope, node, task)
    if node.is_graph:
        from caesura.engine.children import run_node

        return await run_node(scope, node.action, view, scope.work.performer)
    kwargs = injected(node.inject, scope, task) if node.inject else {}
    watch = _watch(scope)
    value = await call_anywhere(
        scope,
        node.action,
        (view,) if node.takes_state else (),
        kwargs,
        is_async=node.is_async,
        patience=_patience(scope, node, task),
    )
    if watch is not None:
        watch.check()
    return value


def _is_plain(work: Work, node: Node, task: TaskView) -> bool:
    """Whether a node is sync code without a time limit."""
    return not (
        node.is_async
        or node.is_graph
        or node.timeout is not None
        or task.timeout is not None
        or work.call.graph.step_timeout is not None
    )


def _patience(scope: Scope, node: Node, task: TaskView) -> Any:
    step = scope.work.call.graph.step_timeout
    if node.timeout is None and task.timeout is None and step is None:
        return None
    patience = patience_for(task.node, node.timeout, task.timeout, step)
    if patience is not None:
        scope.beat = patience.beat
    return patience
