"""Run one task: its node with retries, then its conditional edges; tell what became of it.

Promises: whether a pass waits, failed or finished is read from its journal first and from its code
second, so a pause that was eaten is a pause. What a pass asked is staged when it ends. A pause, a
cancelled call and a command to the parent are no failures. Does not promise: to record results;
that is `engine.loop`'s part.
"""

from __future__ import annotations

import logging
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.events import Reread, Retried
from caesura.core.history import journal_key
from caesura.core.parts import ErrorInfo, Target
from caesura.core.retry import may_try_again, next_delay, policy_for
from caesura.core.state import apply_writes, view_for
from caesura.engine.context import injected
from caesura.engine.failures import describe
from caesura.engine.patience import patience_for
from caesura.engine.returns import Writes, read_command, read_returned, read_routed
from caesura.engine.scopes import SCOPE, Scope
from caesura.errors import NodeTimeoutError, ParentCommand, Suspended

if TYPE_CHECKING:
    from caesura.core.plan import Branch, Node
    from caesura.core.view import TaskView
    from caesura.engine.calls import Work

_log = logging.getLogger("caesura")


class Ending(NamedTuple):
    """What became of a task in this call."""

    writes: Writes | None = None  # None: its node has not finished
    goto: list[Target] | None = None  # None: its edges have yet to say
    commanded: list[Target] | None = None
    handled: ErrorInfo | None = None
    error: Exception | None = None
    attempts: int = 1
    of_router: bool = False
    leaves: ParentCommand | None = None  # it ends its graph's run with a command to the parent


WAITS = Ending()


async def run_task(work: Work, index: int) -> Ending:
    """One pass through a task, as far as it gets."""
    task = work.run.tasks[index]
    if task.writes is not None:
        return await _route(work, index, task, task.writes, task.commanded or [])
    ending = await _run_node(work, index, task)
    if ending.writes is None or ending.handled is not None:
        return ending
    return await _route(work, index, task, ending.writes, ending.goto or [])


def _scope(work: Work, index: int, task: TaskView, **more: Any) -> Scope:
    run, view = work.run, work.call.ledger.view
    key = journal_key(run, index, task)
    return Scope(
        work,
        node=task.node,
        step=run.step,
        index=index,
        key=key,
        journal=view.journals.get(key),
        **more,
    )


# ----------------------------------------------------------------------------------------- the node
async def _run_node(work: Work, index: int, task: TaskView) -> Ending:
    node, call = work.plan.nodes[task.node], work.call
    attempt, first_at = 0, call.clock.now() if node.retry else 0
    while True:
        attempt += 1
        scope = _scope(work, index, task, attempt=attempt, first_at=first_at)
        try:
            value = await _pass_through(scope, lambda: _call_node(scope, node, task))
            returned = read_returned(work.plan, task.node, value, call.ids.new)
            return Ending(returned.writes, returned.goto, attempts=attempt)
        except Suspended:
            _pause(scope, task)
            return WAITS
        except ParentCommand as command:
            if command.args[0].graph is not None:
                return Ending(leaves=command)
            own = read_command(work.plan, task.node, command.args[0], call.ids.new)
            return Ending(own.writes, own.goto, attempts=attempt)
        except Exception as error:
            delay = _delay(scope, node, error, attempt)
            if delay is None:
                return _failed(scope, node, error, attempt)
            if scope.key in call.ledger.view.journals:
                call.ledger.stage(Retried(task=[scope.step, index]))
            _log.info(
                "thread %r: node %r failed with %r and is tried again in %.3g s (attempt %d)",
                call.ledger.thread,
                task.node,
                error,
                delay,
                attempt,
                extra=scope.names(),
            )
            await work.performer.sleep(call.clock, delay)


def _delay(scope: Scope, node: Node, error: Exception, attempts: int) -> float | None:
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


async def _call_node(scope: Scope, node: Node, task: TaskView) -> Any:
    work = scope.work
    if task.sent:
        view: Any = task.arg
    else:
        view = view_for(node.schema, work.run.values, work.steps_left)
    if node.is_graph:
        from caesura.engine.children import call_child

        return await call_child(scope, node.action, view, work.performer)
    kwargs = injected(node.inject, scope, task) if node.inject else {}
    args = (view,) if node.takes_state else ()
    return await _call(
        scope, node.action, args, kwargs, node.is_async, _patience(scope, node, task)
    )


def _patience(scope: Scope, node: Node, task: TaskView) -> Any:
    step = scope.work.call.graph.step_timeout
    if node.timeout is None and task.timeout is None and step is None:
        return None
    patience = patience_for(task.node, node.timeout, task.timeout, step)
    if patience is not None:
        scope.beat = patience.beat
    return patience


async def _call(
    scope: Scope,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    is_async: bool,
    patience: Any,
) -> Any:
    """Call the user's code in a context in which it finds this scope."""
    performer, context = scope.work.performer, copy_context()
    context.run(SCOPE.set, scope)
    watch = scope.work.call.watch
    if watch is not None:
        context.run(watch, scope)
    try:
        if is_async:

            def started(task: Any) -> None:
                scope.task = task

            return await performer.run_coroutine(
                lambda: function(*args, **kwargs), context, started, patience
            )
        if patience is None and not performer.on_loop:
            value = context.run(function, *args, **kwargs)
        else:

            def on_its_thread() -> Any:
                scope.thread = threading.get_ident()
                return function(*args, **kwargs)

            value = await performer.call(on_its_thread, context, patience)
    except NodeTimeoutError as error:
        scope.cut_off(error)
        raise
    if hasattr(value, "__await__"):  # a sync callable that gave a coroutine

        async def waited() -> Any:
            return await value

        return await performer.run_coroutine(waited, context, lambda task: None, patience)
    return value


# ------------------------------------------------------------------------------------------ a pass
async def _pass_through(scope: Scope, call: Any) -> Any:
    """Run a pass to its end. What its journal says goes before what its code says."""
    try:
        value, error = await call(), None
    except BaseException as caught:
        value, error = None, caught
    await _seal(scope)
    if error is not None and _is_from_outside(error):
        raise error
    if scope.failure is not None:
        raise scope.failure from (error if error is not scope.failure else None)
    if scope.waits:
        if isinstance(error, Exception):
            _log.info(
                "thread %r: node %r waits for an answer and raised %r beside it",
                scope.work.call.ledger.thread,
                scope.node,
                error,
                extra=scope.names(),
            )
        raise Suspended from None
    if error is not None:
        raise error
    return value


def _is_from_outside(error: BaseException) -> bool:
    """Whether the program is told to stop, rather than its node to wait or to fail."""
    if isinstance(error, Exception | Suspended):
        return False
    return not (isinstance(error, BaseExceptionGroup) and error.subgroup(Suspended) is not None)


async def _seal(scope: Scope) -> None:
    if scope.work.performer.on_loop:
        await scope.seal_on_loop()
    else:
        scope.seal()


def _pause(scope: Scope, task: TaskView) -> None:
    scope.stage_questions()
    if task.stale:
        scope.work.call.ledger.stage(Reread(scope.step, scope.index))


# ------------------------------------------------------------------------------ conditional edges
async def _route(
    work: Work, index: int, task: TaskView, writes: Writes, commanded: list[Target]
) -> Ending:
    branches = work.plan.branches.get(task.node)
    if not branches:
        return Ending(writes, commanded)
    unfinished = Ending(writes, None, commanded, of_router=True)
    scope = _scope(work, index, task, router=True)
    try:
        goto = await _pass_through(scope, lambda: _ask_branches(scope, branches, writes))
    except Suspended:
        _pause(scope, task)
        return unfinished
    except ParentCommand as command:
        return unfinished._replace(leaves=command)
    except Exception as error:
        scope.stage_questions()
        return unfinished._replace(error=error)
    return Ending(writes, [*commanded, *goto])


async def _ask_branches(scope: Scope, branches: tuple[Branch, ...], writes: Writes) -> list[Target]:
    work = scope.work
    values = work.run.values
    if writes:
        values = dict(values)
        apply_writes(work.plan.state, values, writes)
    goto: list[Target] = []
    task = work.run.tasks[scope.index]
    for branch in branches:
        view = view_for(branch.schema, values, work.steps_left)
        kwargs = injected(branch.inject, scope, task) if branch.inject else {}
        value = await _call(scope, branch.path, (view,), kwargs, branch.is_async, None)
        goto += read_routed(work.plan, scope.node, branch, value)
    return goto
