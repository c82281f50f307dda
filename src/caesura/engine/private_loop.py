"""An event loop in a thread of its own, for async nodes that run under the sync API.

Promises: works inside a running loop (Jupyter, a web handler), because it is another one; it stays
the same loop for the life of the process, so clients that belong to a loop can be kept.
Called by `engine.performer`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


class _Home:
    """Where this process keeps its loop."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start without a loop, as in a forked process."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run_for_good, args=(loop,), name="caesura-loop", daemon=True
                ).start()
                self._loop = loop
            return self._loop


def _run_for_good(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # A task that raises one of these ends the loop before anybody is told of it. Whoever
            # waits for the task gets it; the loop belongs to all and goes on.
            continue


_HOME = _Home()


def private_loop() -> asyncio.AbstractEventLoop:
    """The loop, started when it is first needed."""
    return _HOME.loop()


def run_there(
    make: Callable[[], Coroutine[Any, Any, Any]],
    context: Context,
    started: Callable[[asyncio.Task[Any]], None],
) -> Future[Any]:
    """Run a coroutine on the private loop; the future tells its outcome to any thread."""
    import asyncio
    from concurrent.futures import Future

    future: Future[Any] = Future()
    loop = private_loop()

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
