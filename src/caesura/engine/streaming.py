"""Drive a run for the reader of its stream: in place, or as a task beside the reader.

Promises: what came before an error is read before the error is raised; a reader who goes away stops
the run at its next boundary and gives the thread back. Called by `engine.compiled`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from caesura.engine.orders import Order
from caesura.engine.performer import IN_PLACE, ON_LOOP, drive
from caesura.engine.shielding import settled

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph


def streamed(graph: CompiledGraph, order: Order) -> Iterator[Any]:
    stream = order.stream
    assert stream is not None
    if order.scope() is not None:
        yield from _inner(graph, order)
        return
    run = order.run(IN_PLACE)
    try:
        while _has_more(run):
            yield from stream.take()
        yield from stream.take()
    except GeneratorExit:
        stream.close()
        _run_out(run)
        raise
    except BaseException:
        yield from stream.take()
        raise
    finally:
        run.close()


def _inner(graph: CompiledGraph, order: Order) -> Iterator[Any]:
    """A child's stream inside of a node: it runs to its end first, as part of its thread."""
    output = graph.invoke(order.value, order.settings.config)
    yield output


def _has_more(run: Coroutine[Any, Any, Any]) -> bool:
    try:
        run.send(None)
    except StopIteration:
        return False
    return True


def _run_out(run: Coroutine[Any, Any, Any]) -> None:
    """Let a run whose reader has gone stop at its next boundary; what fails there is in the log."""
    try:
        drive(run)
    except Exception:  # noqa: BLE001
        return


async def streamed_on_loop(graph: CompiledGraph, order: Order) -> AsyncIterator[Any]:
    import asyncio

    stream = order.stream
    assert stream is not None
    stream.on_loop()
    task = asyncio.ensure_future(order.run(ON_LOOP))
    task.add_done_callback(lambda _: stream.ring())
    try:
        while True:
            for chunk in await stream.some():
                yield chunk
            if task.done():
                for chunk in stream.take():
                    yield chunk
                break
        await task
    finally:
        stream.close()
        cancelled = await settled(task)
        if not task.cancelled():
            task.exception()
        if cancelled is not None:
            raise cancelled
