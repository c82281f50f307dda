"""Tell an event loop things from other threads, many at a time.

Promises: what is posted is done on the loop, in the order in which it was posted; however much
comes in between two turns of the loop, the loop is woken once. Waking it is a system call, and with
many threads at work on one loop it is what costs most.
Called by `engine.performer` and `engine.couriers`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

Message = Callable[[], None]


class Mailbox:
    """The messages for one loop."""

    __slots__ = ("__weakref__", "_is_woken", "_messages")

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._is_woken = False

    def post(self, loop: asyncio.AbstractEventLoop, message: Message) -> None:
        self._messages.append(message)
        if not self._is_woken:
            self._is_woken = True
            try:
                loop.call_soon_threadsafe(self._read)
            except RuntimeError:  # the loop was closed in this moment, and nobody waits any more
                self._messages.clear()

    def _read(self) -> None:
        # First lowered, then read: what is posted from here on wakes the loop again.
        self._is_woken = False
        for _ in range(len(self._messages)):
            self._messages.popleft()()


_boxes: WeakKeyDictionary[asyncio.AbstractEventLoop, Mailbox] = WeakKeyDictionary()
_lock = threading.Lock()


def mailbox_of(loop: asyncio.AbstractEventLoop) -> Mailbox:
    box = _boxes.get(loop)
    if box is None:
        with _lock:
            box = _boxes.setdefault(loop, Mailbox())
    return box
