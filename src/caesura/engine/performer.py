"""How tasks and store calls are carried out: in place for the sync API, else on a loop.

Promises: the only place where the two differ. The engine is written once, as coroutines; under
`InPlace` nothing they await ever yields to a loop, so `drive` runs them to the end without one.
Called by `engine.loop`, `engine.tasks` and the facade.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from caesura.engine.crowds import AsyncJob, Crowd, TaskCrowd, ThreadCrowd
from caesura.engine.mailbox import mailbox_of
from caesura.engine.pool import POOL
from caesura.engine.shielding import EachTime, cancellations, settled, to_the_end
from caesura.ports import Clock, Take

if TYPE_CHECKING:
    import asyncio

    from caesura.engine.ledger import Ledger

T = TypeVar("T")


class Handover:
    """Awaited to let the consumer of a sync stream take what has come."""

    def __await__(self) -> Generator[Handover, None, None]:
        yield self


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of the engine to its end, without an event loop."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


class Deadline(Protocol):
    """When an attempt has taken too long."""

    def remaining(self) -> float: ...
    def error(self) -> BaseException: ...


class Performer(Protocol):
    """One of the two ways."""

    on_loop: bool

    async def call(
        self, function: Callable[[], Any], context: Context, timeout: Deadline | None
    ) -> Any:
        """Call a sync function of the user's."""
        ...

    async def run_coroutine(
        self,
        make: AsyncJob,
        context: Context,
        started: Callable[[Any], None],
        timeout: Deadline | None,
    ) -> Any:
        """Run a coroutine function of the user's as a task of its own."""
        ...

    async def commit(
        self, ledger: Ledger, *, durable: bool = True, release: bool = False
    ) -> None: ...

    async def begin(self, ledger: Ledger, take: Take) -> None:
        """Take the thread's lease with what was staged."""
        ...

    async def store(self, call: Callable[[], T]) -> T: ...
    async def sleep(self, clock: Clock, seconds: float) -> None: ...
    async def to_the_end(
        self, coroutine: Coroutine[Any, Any, T], each_time: EachTime | None = None
    ) -> T:
        """Run a piece of the engine that a cancelled call must not leave half done."""
        ...

    def crowd(self, jobs: Sequence[AsyncJob], limit: int | None) -> Crowd: ...


class InPlace:
    """For the sync API: everything happens in the calling thread, or it waits."""

    on_loop = False

    async def call(
        self, function: Callable[[], Any], context: Context, timeout: Deadline | None
    ) -> Any:
        if timeout is None:
            return context.run(function)
        from concurrent.futures import Future

        future: Future[Any] = Future()

        def work() -> None:
            try:
                future.set_result(context.run(function))
            except BaseException as error:  # noqa: BLE001 - the future carries it
                future.set_exception(error)

        POOL.submit(work)
        return _wait_for(future, timeout)

    async def run_coroutine(
        self,
        make: AsyncJob,
        context: Context,
        started: Callable[[Any], None],
        timeout: Deadline | None,
    ) -> Any:
        from caesura.engine.private_loop import run_there

        tasks: list[Any] = []

        def remember(task: Any) -> None:
            tasks.append(task)
            started(task)

        future = run_there(make, context, remember)
        try:
            return future.result() if timeout is None else _wait_for(future, timeout)
        except BaseException:
            if not future.done() and tasks:
                tasks[0].get_loop().call_soon_threadsafe(tasks[0].cancel)
            raise

    async def commit(self, ledger: Ledger, *, durable: bool = True, release: bool = False) -> None:
        ledger.commit(durable=durable, release=release)

    async def begin(self, ledger: Ledger, take: Take) -> None:
        ledger.begin(take, durable=False)

    async def store(self, call: Callable[[], T]) -> T:
        return call()

    async def sleep(self, clock: Clock, seconds: float) -> None:
        clock.sleep(seconds)

    async def to_the_end(
        self, coroutine: Coroutine[Any, Any, T], each_time: EachTime | None = None
    ) -> T:
        return await coroutine

    def crowd(self, jobs: Sequence[AsyncJob], limit: int | None) -> Crowd:
        return ThreadCrowd(jobs, limit, drive)


def _wait_for(future: Any, timeout: Deadline) -> Any:
    from concurrent.futures import wait

    while (remaining := timeout.remaining()) > 0:
        if wait((future,), remaining).done:
            return future.result()
    raise timeout.error()


class OnLoop:
    """For the async API: nothing blocks the caller's event loop."""

    on_loop = True

    async def call(
        self, function: Callable[[], Any], context: Context, timeout: Deadline | None
    ) -> Any:
        future = in_thread(lambda: context.run(function))
        return await future if timeout is None else await _watch(future, timeout)

    async def run_coroutine(
        self,
        make: AsyncJob,
        context: Context,
        started: Callable[[Any], None],
        timeout: Deadline | None,
    ) -> Any:
        import asyncio

        before = cancellations()
        task = asyncio.get_running_loop().create_task(make(), context=context)
        started(task)
        try:
            if timeout is not None:
                return await _watch(task, timeout)
            result = await task
            if cancellations() > before:
                raise asyncio.CancelledError  # the node has eaten it, which ends the node only
            return result
        except asyncio.CancelledError:
            # The call was cancelled: let the node clean up before the thread is given back.
            task.cancel()
            await settled(task, each_time=lambda _: task.cancel())
            raise
        except BaseException:
            task.cancel()
            raise

    async def commit(self, ledger: Ledger, *, durable: bool = True, release: bool = False) -> None:
        await ledger.commit_on_loop(durable=durable, release=release)

    async def begin(self, ledger: Ledger, take: Take) -> None:
        if ledger.store is not None and ledger.store.instant:
            ledger.begin(take, durable=False)
            return
        taking = in_thread(lambda: ledger.begin(take, durable=False))
        cancelled = await settled(taking)
        if cancelled is not None:
            # The lease may be taken all the same, and then nobody else would give it back.
            if taking.exception() is None:
                await settled(in_thread(lambda: ledger.commit(release=True)))
            raise cancelled
        taking.result()

    async def store(self, call: Callable[[], T]) -> T:
        return await in_thread(call)  # type: ignore[no-any-return]

    async def sleep(self, clock: Clock, seconds: float) -> None:
        await clock.sleep_async(seconds)

    async def to_the_end(
        self, coroutine: Coroutine[Any, Any, T], each_time: EachTime | None = None
    ) -> T:
        return await to_the_end(coroutine, each_time)

    def crowd(self, jobs: Sequence[AsyncJob], limit: int | None) -> Crowd:
        return TaskCrowd(jobs, limit)


async def _watch(future: asyncio.Future[Any], timeout: Deadline) -> Any:
    import asyncio

    while (remaining := timeout.remaining()) > 0:
        await asyncio.wait({future}, timeout=remaining)
        if future.done():
            return future.result()
    future.cancel()
    raise timeout.error()


def in_thread(function: Callable[[], Any]) -> asyncio.Future[Any]:
    """Call a function on a thread of ours; the future belongs to the running loop."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    box = mailbox_of(loop)

    def work() -> None:
        value, error = None, None
        try:
            value = function()
        except BaseException as caught:  # noqa: BLE001 - the future carries it
            error = caught
        if not loop.is_closed():
            box.post(loop, lambda: _tell(future, value, error))

    POOL.submit(work)
    return future


def _tell(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if isinstance(error, StopIteration):  # a future refuses to carry it
        error = RuntimeError(f"the function raised {error!r}")
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


IN_PLACE: Performer = InPlace()
ON_LOOP: Performer = OnLoop()
