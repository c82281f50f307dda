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

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def private_loop() -> asyncio.AbstractEventLoop:
    """The loop, started when it is first needed."""
    global _loop
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="caesura-loop", daemon=True).start()
        return _loop


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
        task = loop.create_task(make(), context=context)
        started(task)
        task.add_done_callback(tell)

    def tell(task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            future.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())

    loop.call_soon_threadsafe(start)
    return future


def _forget_loop() -> None:
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_loop)
