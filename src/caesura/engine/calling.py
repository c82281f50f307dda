"""One call of a graph on a thread, from its input to the moment when it gives the thread back.

Promises: the corridor that every run goes through: load, prepare, take the lease, advance, release.
However a call ends, what was staged is written if it can be, and the thread is free afterwards.
Called by the facade, for `invoke` and for streams.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from caesura.core.control import Command
from caesura.core.decide import can_go_on
from caesura.engine import running
from caesura.engine.beginnings import prepare
from caesura.engine.calls import WAIT_S, Call, OnBusy, Work
from caesura.engine.chunks import Chunks
from caesura.engine.inputs import Wish
from caesura.engine.leaps import Leap
from caesura.engine.logs import LOG
from caesura.engine.loop import advance
from caesura.errors import GraphDrained, ParentCommand, ThreadBusy

if TYPE_CHECKING:
    from caesura.engine.performer import Performer


async def run_call(call: Call, wish: Wish, performer: Performer, on_busy: OnBusy) -> Work:
    """Run as far as it goes; the work tells what it came to."""
    has_work = await _begin(call, wish, performer, on_busy)
    work = Work(call, call.graph.plan, 0, performer)
    if not has_work:
        if call.stream is not None:
            chunks = Chunks(work)
            chunks.begin()
            chunks.waiting()
        return work
    work.beginning = call.beginning
    if call.durability == "exit":
        call.ledger.leap = Leap(
            0, work.plan.state.untracked, begins_anew=call.beginning is not None
        )
    if call.ledger.store is not None:
        LOG.debug(
            "thread %r: runs", call.ledger.thread, extra={"caesura_thread": call.ledger.thread}
        )
    try:
        await advance(work)
    except ParentCommand as leaving:
        await _give_back(call, performer, leaving)
        raise ParentCommand(replace(leaving.args[0], graph=None)) from None
    except BaseException as error:
        await _give_back(call, performer, error)
        raise
    await _end(call, performer)
    if call.drained and can_go_on(call.ledger.view, work.run) and work.run.tasks:
        raise GraphDrained(
            f"Thread {call.ledger.thread!r} stopped at a step's end because it was asked to. It "
            f"goes on with invoke(None, thread={call.ledger.thread!r})."
        )
    return work


async def _begin(call: Call, wish: Wish, performer: Performer, on_busy: OnBusy) -> bool:
    """Stage what the call begins with and take the thread; False when there is nothing to do."""
    reads_the_past = wish.step is not None or isinstance(wish.value, Command)
    while True:
        await call.load(performer, on_busy, free=wish.value is not None)
        if reads_the_past:
            has_work = await performer.store(lambda: prepare(call, wish))
        else:
            has_work = prepare(call, wish)
        if not has_work:
            return False
        try:
            if await call.take(performer):
                return True
        except ThreadBusy:
            if on_busy == "raise":
                raise
            await performer.store(lambda: running.wait_for_a_change(WAIT_S))


async def _give_back(call: Call, performer: Performer, error: BaseException) -> None:
    """After a failure: keep what was done, and free the thread."""
    if call.ledger.broken is not None:
        call.abandon()
        return
    try:
        await _end(call, performer)
    except Exception as trouble:
        call.abandon()
        raise trouble from error


async def _end(call: Call, performer: Performer) -> None:
    """Free the thread, whoever cancels what in the meantime."""
    store = call.ledger.store
    if store is None or store.instant:
        await call.end(performer)
    else:
        await performer.to_the_end(call.end(performer))
