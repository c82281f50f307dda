"""Runs that a test watches while they happen: gates inside nodes, background calls, live streams.

Promises: nobody sleeps; every wait is for a real event and bounded, so that an engine that hangs
makes the test fail with a sentence. Used by the tests beside this file and in `state`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self

from tests.behaviour.both import PATIENCE_S, THREAD, App


class Gate:
    """A place inside a node where it stands until the test lets it go on."""

    def __init__(self) -> None:
        self._somebody_stands_here = threading.Event()
        self._open = threading.Event()

    def stand(self) -> None:
        """Called by the node."""
        self._somebody_stands_here.set()
        assert self._open.wait(PATIENCE_S), "nobody opened the gate"

    def await_arrival(self) -> None:
        """Called by the test: returns once a node stands at the gate."""
        assert self._somebody_stands_here.wait(PATIENCE_S), "no node came to the gate"

    def open(self) -> None:
        self._open.set()

    @property
    def is_reached(self) -> bool:
        return self._somebody_stands_here.is_set()


@contextmanager
def in_background(app: App, graph: Any, value: Any, **options: Any) -> Iterator[Future[Any]]:
    """Run the graph beside the test; what it returns or raises is in the future."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(app.run, graph, value, **options)


class LiveStream:
    """A stream that is read chunk by chunk, through either API."""

    def __init__(self, app: App, graph: Any, value: Any, **options: Any) -> None:
        options = {"thread": THREAD, **options}
        self._is_sync = app.api == "sync"
        if self._is_sync:
            self._chunks = graph.stream(value, **options)
        else:
            self._loop = asyncio.new_event_loop()
            self._chunks = graph.astream(value, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if not self._is_sync:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def next(self) -> Any:
        if self._is_sync:
            return next(self._chunks)
        return self._loop.run_until_complete(anext(self._chunks))

    def rest(self) -> list[Any]:
        if self._is_sync:
            return list(self._chunks)

        async def everything() -> list[Any]:
            return [chunk async for chunk in self._chunks]

        return self._loop.run_until_complete(everything())

    def close(self) -> None:
        if self._is_sync:
            self._chunks.close()
        else:
            self._loop.run_until_complete(self._chunks.aclose())
