"""`once`: perform an effect, write its result down, return what was written on replay.

Promises: an effect whose result was recorded is never performed again; `once` returns when the
record is durable, in every durability mode. Does not promise exactly once across a crash: between
the call and its record a machine can die, and then this one effect runs again, with the same
`once.key()`. A synchronous `once(f)` inside an async node blocks the event loop; `await
once.thread(f)` does not.
Called from nodes. Nothing else records effects, except `engine.functional`, which calls this.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from types import FrameType
from typing import Any, TypeVar

from caesura.core.control import RetryPolicy
from caesura.core.retry import coerce_retry, may_try_again, next_delay, policy_for
from caesura.core.view import Recording
from caesura.engine.failures import rebuild
from caesura.engine.fingerprint import fingerprint_call, show
from caesura.engine.scopes import SCOPE, Scope, current_scope
from caesura.errors import AuthoringError, OutsideANode, Suspended

T = TypeVar("T")
Policies = RetryPolicy | tuple[RetryPolicy, ...] | list[RetryPolicy] | None

_KEY: ContextVar[str] = ContextVar("caesura.effect")
_AROUND: ContextVar[Effect] = ContextVar("caesura.effect_around")


class Effect:
    """One call of `once` in one pass."""

    __slots__ = (
        "aside",
        "awaited",
        "fingerprint",
        "is_task",
        "name",
        "policies",
        "scope",
        "shown",
        "use",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        key: str | None,
        policies: Any,
        *,
        name: str | None = None,
    ) -> None:
        self.scope: Scope = current_scope("once()" if name is None else f"task {name!r}")
        self.name = key if key is not None else name or _name_of(function)
        self.policies = coerce_retry(policies, f"once({self.name})")
        self.shown = show(args, kwargs)
        registry = self.scope.work.call.ledger.codec.registry
        self.fingerprint = "" if key is not None else fingerprint_call(args, kwargs, registry)
        self.is_task = name is not None
        self.use = 0
        self.aside = self.awaited = False

    def begin(self) -> Recording | None:
        # Asked here: what performs an async effect is always a strand of its own.
        self.aside = not self.scope.is_main_strand()
        found = self.scope.begin(self.name, self.fingerprint, self.shown, aside=self.aside)
        if isinstance(found, Recording):
            return found
        self.use = found
        return None

    def replay(self, record: Recording) -> Any:
        """What it gave when it was performed: its result, or its failure."""
        if record.error is not None:
            raise rebuild(record.error, self.scope.work.plan.errors)
        return record.value

    def enter(self) -> None:
        _KEY.set(self.scope.idempotency_key(self.name, self.fingerprint, self.use))
        if not self.is_task:
            _AROUND.set(self)

    def delay(self, error: BaseException, attempts: int) -> float | None:
        """Seconds until the next attempt; None: this failure is final."""
        if self.scope.failure is error:
            return None
        policy = policy_for(self.policies, error)
        if policy is None or not may_try_again(policy, attempts):
            return None
        return next_delay(policy, attempts, self.scope.work.call.ids.chance())

    def record(self, value: Any, error: BaseException | None) -> None:
        self.scope.record(
            self.scope.made(
                self.name,
                self.fingerprint,
                self.use,
                shown=self.shown,
                aside=self.aside,
                awaited=self.awaited,
                value=value,
                error=error,
            )
        )
        if self.scope.beat is not None:
            self.scope.beat()


def effect_around(scope: Scope) -> Effect | None:
    """The effect of `once` in which code of this call runs; a task is none."""
    effect = _AROUND.get(None)
    return effect if effect is not None and effect.scope.work.call is scope.work.call else None


class Once:
    """The type of `once`."""

    def __call__(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *args: Any,
        key: str | None = None,
        retry_policy: Policies = None,
        **kwargs: Any,
    ) -> Any:
        """Perform `function(*args, **kwargs)` once and return what it gave, now and on replay.

        An async function gives an awaitable. Above a def this makes a decorator: `@once`, or
        `@once(retry_policy=...)`.
        """
        if function is None:
            return lambda wrapped: self._decorated(wrapped, key, retry_policy)
        if not args and not kwargs and _looks_decorated(function, sys._getframe().f_back):
            return self._decorated(function, key, retry_policy)
        return self._run(function, args, kwargs, key, retry_policy)

    def _run(
        self, function: Callable[..., Any], args: Any, kwargs: Any, key: str | None, policies: Any
    ) -> Any:
        function = getattr(function, "__caesura_effect__", function)
        if is_async(function):
            return _perform_async(
                Effect(function, args, kwargs, key, policies), function, args, kwargs
            )
        return _perform(Effect(function, args, kwargs, key, policies), function, args, kwargs)

    def _decorated(self, function: Callable[..., Any], key: str | None, policies: Any) -> Any:
        @functools.wraps(function)
        def effect(*args: Any, **kwargs: Any) -> Any:
            return self._run(function, args, kwargs, key, policies)

        effect.__caesura_effect__ = function  # type: ignore[attr-defined]
        return effect

    async def thread(
        self,
        function: Callable[..., T],
        /,
        *args: Any,
        key: str | None = None,
        retry_policy: Policies = None,
        **kwargs: Any,
    ) -> T:
        """`once` for a blocking function inside an async node: it runs in a thread."""
        from caesura.engine.performer import in_thread

        effect = Effect(function, args, kwargs, key, retry_policy)

        async def in_a_thread(*args: Any, **kwargs: Any) -> T:
            context = copy_context()
            return await in_thread(  # type: ignore[no-any-return]
                lambda: context.run(lambda: function(*args, **kwargs))
            )

        return await _perform_async(effect, in_a_thread, args, kwargs)  # type: ignore[no-any-return]

    def key(self) -> str:
        """Within an effect: its idempotency key, the same when a crash makes it run again."""
        key = _KEY.get(None)
        if key is None:
            raise OutsideANode(
                "once.key() was called outside of an effect. Call it in the function that you give "
                "to once(...)."
            )
        return key


once = Once()


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine."""
    import inspect

    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is what is asked about
    )


def _looks_decorated(function: Callable[..., Any], caller: FrameType | None) -> bool:
    """`@once` above a def, rather than `once(f)` in a node.

    A module or a class decorates, also one that a node imports; so does whoever gives a function
    that needs arguments. A node's own threads and forgotten callbacks do not: what they want
    performed must not become a decorator that nobody calls.
    """
    import inspect

    if caller is not None and not caller.f_code.co_flags & inspect.CO_OPTIMIZED:
        return True  # the body of a module or of a class
    code = getattr(function, "__code__", None)
    given = len(getattr(function, "__defaults__", None) or ())
    given += getattr(function, "__self__", None) is not None  # a bound method brings its object
    if code is not None and code.co_argcount > given:
        return True
    if SCOPE.get(None) is not None:
        return False
    if threading.current_thread() is threading.main_thread() and running_loop() is None:
        return True
    name = _name_of(function)
    raise OutsideANode(
        f"once({name}) was called where no node is running, so {name} was not performed. If it is "
        f"to be performed here, call it in the node's context: contextvars.copy_context().run(f, "
        f"...), asyncio.to_thread or once.thread give that to a thread. If it is to be a "
        f"decorator, write @once()."
    )


def running_loop() -> Any:
    """The event loop that runs in this thread, if one does."""
    asyncio: Any = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


def _name_of(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).replace("<locals>.", "")


def _perform(effect: Effect, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    record = effect.begin()
    if record is None:
        return perform(effect, lambda: function(*args, **kwargs))
    if record.awaited and running_loop() is not None:
        return _replay_to_a_waiter(effect, record)
    return effect.replay(record)


async def _replay_to_a_waiter(effect: Effect, record: Recording) -> Any:
    return effect.replay(record)


class _GaveAwaitable(Exception):
    """A sync function gave something to wait for, which is the effect."""

    def __init__(self, given: Awaitable[Any]) -> None:
        self.given = given


def perform(effect: Effect, function: Callable[[], Any]) -> Any:
    """Carry out an effect that has begun, and record it."""
    context = copy_context()
    context.run(effect.enter)
    try:
        return _perform_here(effect, context, function)
    except _GaveAwaitable as gave:
        return _perform_awaitable(effect, context, function, gave.given)


def _perform_here(effect: Effect, context: Context, function: Callable[[], Any]) -> Any:
    call, attempts, is_handed_over = effect.scope.work.call, 0, False
    try:
        call.ledger.commit()  # whatever it depends on must not be lost after it
        while True:
            attempts += 1
            try:
                value = context.run(function)
            except Exception as error:
                delay = effect.delay(error, attempts)
                if delay is None:
                    effect.record(None, error)
                    call.ledger.commit()
                    raise
                call.clock.sleep(delay)
                continue
            if hasattr(value, "__await__"):
                _check_awaitable(effect, value)
                is_handed_over = True
                raise _GaveAwaitable(value)
            effect.record(value, None)
            call.ledger.commit()
            return value
    finally:
        if not is_handed_over:
            effect.scope.end()


def _check_awaitable(effect: Effect, given: Any) -> None:
    """Refuse something to wait for where nobody can; nothing was performed yet."""
    scope = effect.scope
    is_async = scope.task is not None or scope.work.performer.on_loop
    if is_async and running_loop() is not None:
        return
    if hasattr(given, "close"):  # or Python says that it was never awaited
        given.close()
    raise AuthoringError(
        f"once({effect.name}) in node {scope.node!r}: the function gave something that has to be "
        f"awaited, and here nothing can await it. Nothing was recorded. Make the node async and "
        f"write 'await once(...)', or give a function that returns the result itself."
    )


def _perform_awaitable(
    effect: Effect, context: Context, function: Callable[[], Any], given: Awaitable[Any]
) -> Awaitable[Any]:
    """Go on with an effect whose function gave something to wait for."""
    import asyncio

    effect.awaited = True
    left = [given]

    async def wait() -> Any:
        return left.pop() if left else function()  # what it gives is awaited there

    task = asyncio.get_running_loop().create_task(perform_on_loop(effect, wait), context=context)
    effect.scope.keep(task)
    return asyncio.shield(task)


async def _perform_async(
    effect: Effect, function: Callable[..., Coroutine[Any, Any, Any]], args: Any, kwargs: Any
) -> Any:
    import asyncio

    record = effect.begin()
    if record is not None:
        return effect.replay(record)
    context = copy_context()
    context.run(effect.enter)
    task = asyncio.get_running_loop().create_task(
        perform_on_loop(effect, lambda: function(*args, **kwargs)), context=context
    )
    effect.scope.keep(task)
    return await asyncio.shield(task)


async def perform_on_loop(effect: Effect, make: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """The same on the running loop."""
    call, attempts = effect.scope.work.call, 0
    try:
        if call.ledger.is_behind:
            await call.ledger.commit_on_loop()
        while True:
            attempts += 1
            try:
                value = await make()
                while hasattr(value, "__await__"):
                    value = await value
            except Suspended:
                raise
            except Exception as error:
                delay = effect.delay(error, attempts)
                if delay is None:
                    effect.record(None, error)
                    await call.ledger.commit_on_loop()
                    raise
                await call.clock.sleep_async(delay)
            else:
                effect.record(value, None)
                await call.ledger.commit_on_loop()
                return value
    finally:
        effect.scope.end()
