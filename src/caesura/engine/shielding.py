"""Wait for what must not be left half done, however often whoever waits is cancelled.

Promises: a cancellation is raised when the waiting is over, never lost. asyncio may deliver any
number of them (`task.cancel()` once more, a timeout around a timeout, a cancel scope of anyio that
insists), and a plain `shield` holds off the first only.
Called by `engine.performer`, `engine.crowds` and everything that waits on the caller's loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
EachTime = Callable[[BaseException], object]  # what to do at every cancellation


async def settled(
    *futures: asyncio.Future[Any], each_time: EachTime | None = None
) -> asyncio.CancelledError | None:
    """Wait until all are done, whatever they came to; the last cancellation that came meanwhile."""
    import asyncio

    cancelled = None
    while waiting := [future for future in futures if not future.done()]:
        try:
            await asyncio.wait(waiting)
        except asyncio.CancelledError as again:
            cancelled = again
            if each_time is not None:
                each_time(again)
    return cancelled


async def to_the_end(coroutine: Coroutine[Any, Any, T], each_time: EachTime | None = None) -> T:
    """Run a coroutine to its end. If the caller is cancelled, that is raised afterwards."""
    import asyncio

    task = asyncio.get_running_loop().create_task(coroutine)
    cancelled = await settled(task, each_time=each_time)
    if cancelled is None:
        return task.result()
    raise cancelled from (None if task.cancelled() else task.exception())


def cancellations() -> int:
    """How often the running task was told to stop; more than before: it is told so now."""
    import asyncio

    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0
