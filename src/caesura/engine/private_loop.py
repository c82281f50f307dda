"""An event loop in a thread of its own, for async nodes that run under the sync API.

Promises: works inside a running loop (Jupyter, a web handler), because it is another one; it stays
the same loop for the life of the process, so clients that belong to a loop can be kept. What runs
on it may call the sync API in turn, which blocks it: async nodes within run on the next such loop.
Does not promise: to notice a thread that was started without its caller's context.
Called by `engine.performer`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


# How many of our loops may be blocked by whoever runs here. A context goes along to the threads
# that work for a node, so it knows what the thread alone could not tell.
DEPTH: ContextVar[int] = ContextVar("caesura.depth", default=0)
_here = threading.local()


class _Home:
    """Where this process keeps its loops: one for each depth of sync calls within async nodes."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start without a loop, as in a forked process."""
        self._lock = threading.Lock()
        self._loops: list[asyncio.AbstractEventLoop] = []
        _here.depth = 0

    def loop(self, depth: int) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            while len(self._loops) <= depth:
                loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run_for_good,
                    args=(loop, len(self._loops) + 1),
                    name="caesura-loop",
                    daemon=True,
                ).start()
                self._loops.append(loop)
            return self._loops[depth]


def _run_for_good(loop: asyncio.AbstractEventLoop, depth: int) -> None:
    _here.depth = depth
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # A task that raises one of these ends the loop before anybody is told of it. Whoever
            # waits for the task gets it; the loop belongs to all and goes on.
            continue


_HOME = _Home()


def private_loop() -> asyncio.AbstractEventLoop:
    """The loop for what is called from here, started when it is first needed."""
    return _HOME.loop(_depth())


def _depth() -> int:
    return max(DEPTH.get(), getattr(_here, "depth", 0))


def run_there(
    make: Callable[[], Coroutine[Any, Any, Any]],
    context: Context,
    started: Callable[[asyncio.Task[Any]], None],
) -> Future[Any]:
    """Run a coroutine on the private loop; the future tells its outcome to any thread."""
    import asyncio
    from concurrent.futures import Future

    future: Future[Any] = Future()
    depth = _depth()
    loop = _HOME.loop(depth)
    context.run(DEPTH.set, depth + 1)

    def start() -> None:
        try:
            task = loop.create_task(make(), context=context)
        except BaseException as error:  # noqa: BLE001 - somebody waits for it
            future.set_exception(error)
            return
        task.add_done_callback(tell)
        started(task)

    def tell(task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            future.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())

    loop.call_soon_threadsafe(start)
    return future


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HOME.forget)
