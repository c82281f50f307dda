"""One pass through a piece of the user's code, in a context in which it finds its scope.

Promises: what the pass's journal says goes before what its code says, so a pause that was eaten
is a pause, and a failure of the journal is not covered up. Whoever stops the program (a cancelled
call, Ctrl-C) is let through; a node that cancels itself has failed. Sync code under the sync API
takes a short way without any coroutine: most passes are that, and every superstep has one.
Called by `engine.tasks`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

from caesura.engine.logs import LOG, ids_of
from caesura.engine.performer import IN_PLACE, Performer, drive
from caesura.engine.scopes import SCOPE, Scope
from caesura.engine.shielding import cancellations
from caesura.errors import NodeCancelled, NodeTimeoutError, ParentCommand, Suspended

STOPS = (KeyboardInterrupt, GeneratorExit)  # the program is told to stop, whatever its nodes do


def pass_in_place(scope: Scope, call: Callable[[], Any]) -> Any:
    """Run a pass of sync code in this thread, to its end."""
    try:
        value, error = call(), None
    except BaseException as caught:  # noqa: BLE001 - `_verdict` raises what it does not answer
        value, error = None, caught
        if isinstance(caught, STOPS):
            scope.give_up(caught)
    scope.seal()
    if error is None and scope.failure is None and not scope.waits:
        scope.stage_questions()
        return value
    return _verdict(scope, value, error)


async def pass_through(scope: Scope, call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a pass to its end, wherever it runs."""
    performer = scope.work.performer
    before = cancellations() if performer.on_loop else 0
    try:
        value, error = await call(), None
    except BaseException as caught:  # noqa: BLE001 - `_verdict` raises what it does not answer
        value, error = None, caught
    is_cancelled = performer.on_loop and cancellations() > before
    if error is not None and (is_cancelled or isinstance(error, STOPS)):
        scope.give_up(error)
    if not performer.on_loop:
        scope.seal()
    elif not scope.seal_at_once():
        await performer.to_the_end(scope.seal_on_loop(), each_time=scope.give_up)
    return _verdict(scope, value, error, is_cancelled=is_cancelled)


def _verdict(
    scope: Scope, value: Any, error: BaseException | None, *, is_cancelled: bool = False
) -> Any:
    """What a pass came to."""
    if error is not None and not isinstance(error, Exception | Suspended):
        asyncio = sys.modules.get("asyncio")
        if asyncio is not None and isinstance(error, asyncio.CancelledError):
            if is_cancelled or scope.is_given_up:
                raise error
            cause, error = error, NodeCancelled(scope.node)
            error.__cause__ = cause
        elif _is_from_outside(scope, error):
            raise error
    if scope.failure is not None:
        raise scope.failure from (error if error is not scope.failure else None)
    if scope.waits:
        if isinstance(error, Exception):
            LOG.info(
                "thread %r: node %r waits for an answer and raised %r beside it",
                scope.work.call.ledger.thread,
                scope.node,
                error,
                extra=ids_of(scope.work, scope.index),
            )
        raise Suspended from None
    if error is None or isinstance(error, ParentCommand):
        scope.stage_questions()  # what it asked before and does not ask any more is taken back
    if error is not None:
        raise error
    return value


def _is_from_outside(scope: Scope, error: BaseException) -> bool:
    """Whether the program is told to stop, rather than its node to wait or to fail.

    A node that exits beside its own question does so because it was interrupted by the pause.
    """
    return isinstance(error, STOPS) or not scope.waits


# ------------------------------------------------------------------------------- calling user code
def call_in_place(
    scope: Scope, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call sync code here; a coroutine that it gives back is run to its end."""
    value = copy_context().run(_inside, scope, function, args, kwargs)
    if hasattr(value, "__await__"):
        return drive(_wait_for(IN_PLACE, scope, value))
    return value


def _inside(scope: Scope, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    SCOPE.set(scope)
    watch = scope.work.call.watch
    if watch is not None:
        watch(scope)
    return function(*args, **kwargs)


async def call_anywhere(
    scope: Scope,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    is_async: bool,
    patience: Any,
) -> Any:
    """Call code that is async, that has a time limit, or that runs under the async API."""
    performer, context = scope.work.performer, copy_context()
    try:
        if is_async:

            async def inside() -> Any:
                return await _inside(scope, function, args, kwargs)

            def started(task: Any) -> None:
                scope.task = task

            return await performer.run_coroutine(inside, context, started, patience)

        def on_its_thread() -> Any:
            scope.thread = threading.get_ident()
            return _inside(scope, function, args, kwargs)

        value = await performer.call(on_its_thread, context, patience)
    except NodeTimeoutError as error:
        scope.cut_off(error)
        raise
    if hasattr(value, "__await__"):
        return await _wait_for(performer, scope, value)
    return value


async def _wait_for(performer: Performer, scope: Scope, awaitable: Any) -> Any:
    """For a sync callable that gave a coroutine."""
    context = copy_context()
    context.run(SCOPE.set, scope)

    async def waited() -> Any:
        return await awaitable

    def started(task: Any) -> None:
        scope.task = task

    return await performer.run_coroutine(waited, context, started, None)
