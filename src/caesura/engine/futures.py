"""`task`: a function that starts at once, gives a future, and is performed once.

Promises: its result is recorded like that of `once`, and given back on replay. A task that began
before a pause is finished and recorded; a cancelled one records nothing and starts again.
Called in nodes and workflows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, overload

from caesura.core.retry import coerce_retry, coerce_timeout
from caesura.engine.effects import Effect, is_async, perform, perform_on_loop
from caesura.engine.patience import patience_for
from caesura.engine.performer import IN_PLACE, ON_LOOP, drive
from caesura.engine.pool import POOL
from caesura.engine.scopes import Scope
from caesura.errors import Unsupported


@overload
def task(function: Callable[..., Any], /) -> TaskFunction: ...
@overload
def task(
    *,
    name: str | None = None,
    retry_policy: Any = None,
    cache_policy: Any = None,
    timeout: Any = None,
) -> Callable[[Callable[..., Any]], TaskFunction]: ...


def task(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    retry_policy: Any = None,
    cache_policy: Any = None,
    timeout: Any = None,
) -> Any:
    """Make a function a task: calling it starts it and gives a future."""
    if cache_policy is not None:
        raise Unsupported("task(cache_policy=...) is out of scope. Leave it out.")

    def make(function: Callable[..., Any]) -> TaskFunction:
        return TaskFunction(function, name, retry_policy, timeout)

    return make if function is None else make(function)


class TaskFunction:
    """A function that was made a task."""

    def __init__(
        self, function: Callable[..., Any], name: str | None, retry_policy: Any, timeout: Any
    ) -> None:
        self.func = function
        self.__doc__, self.__wrapped__ = function.__doc__, function
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))
        self._policies = coerce_retry(retry_policy, f"task {self.name!r}")
        self._timeout = coerce_timeout(timeout, f"task {self.name!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        effect = Effect(self.func, args, kwargs, None, self._policies, name=self.name)
        if _on_a_loop():
            return self._start_on_loop(effect, args, kwargs)
        return self._start(effect, args, kwargs)

    # ------------------------------------------------------------------------- without a loop
    def _start(self, effect: Effect, args: Any, kwargs: Any) -> TaskFuture:
        future = TaskFuture()
        record = effect.begin()
        if record is not None:
            _settle(future, lambda: effect.replay(record))
            return future
        context = copy_context()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                effect.scope.end()
                return
            _settle(future, lambda: context.run(perform, effect, lambda: self._once(args, kwargs)))
            if future.exception() is None:
                _tell(effect.scope, self.name, future.result())

        POOL.submit(work)
        return future

    def _once(self, args: Any, kwargs: Any) -> Any:
        """One attempt, in place."""
        context, patience = copy_context(), patience_for(self.name, self._timeout, None, None)
        if is_async(self.func):
            make = functools.partial(self.func, *args, **kwargs)
            return drive(IN_PLACE.run_coroutine(make, context, lambda _: None, patience))
        return drive(IN_PLACE.call(lambda: self.func(*args, **kwargs), context, patience))

    # ------------------------------------------------------------------------------ on a loop
    def _start_on_loop(self, effect: Effect, args: Any, kwargs: Any) -> LoopFuture:
        import asyncio

        loop = asyncio.get_running_loop()
        record = effect.begin()
        if record is not None:
            done: Any = loop.create_future()
            _settle(done, lambda: effect.replay(record))
            return LoopFuture(done)
        context = copy_context()
        context.run(effect.enter)

        async def work() -> Any:
            value = await perform_on_loop(effect, lambda: self._once_on_loop(args, kwargs))
            _tell(effect.scope, self.name, value)
            return value

        running = loop.create_task(work(), context=context)
        effect.scope.keep(running)
        return LoopFuture(running)

    async def _once_on_loop(self, args: Any, kwargs: Any) -> Any:
        context, patience = copy_context(), patience_for(self.name, self._timeout, None, None)
        if is_async(self.func):
            make = functools.partial(self.func, *args, **kwargs)
            if patience is None:
                return await make()
            return await ON_LOOP.run_coroutine(make, context, lambda _: None, patience)
        return await ON_LOOP.call(lambda: self.func(*args, **kwargs), context, patience)


class TaskFuture(Future[Any]):
    """The future of a task that runs on a thread. It can be awaited, too."""

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.wrap_future(self).__await__()


class LoopFuture:
    """The future of a task that runs on the loop. Who waits for it may be cancelled; it is not."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.shield(self._future).__await__()

    def cancel(self) -> bool:
        return bool(self._future.cancel())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._future, name)


def _on_a_loop() -> bool:
    import sys

    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _settle(future: Any, compute: Callable[[], Any]) -> None:
    try:
        value = compute()
    except BaseException as error:  # noqa: BLE001 - the future carries it
        future.set_exception(error)
    else:
        future.set_result(value)


def _tell(scope: Scope, name: str, value: Any) -> None:
    """Readers of updates see what a task gave."""
    stream = scope.work.call.stream
    if stream is not None:
        stream.put(scope.work.namespace, "updates", {name: value})
