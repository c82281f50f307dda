"""Change a thread from outside of a run: update its state, answer, settle what was left open.

Promises: an update takes the thread's lease for a moment, and is refused while a run holds it; an
answer needs no lease, and reaches a thread that runs as well as one that waits.
Called by the facade.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from caesura.core.control import UNSET, StateUpdate
from caesura.core.events import Event, Expired, Settled
from caesura.core.journals import find_question
from caesura.engine.answers import answer_to, instant
from caesura.engine.calls import Call
from caesura.engine.families import Family
from caesura.engine.inputs import open_here
from caesura.engine.ledger import Ledger
from caesura.engine.past import place_of
from caesura.engine.performer import Performer
from caesura.engine.settings import Settings
from caesura.engine.showing import config_of
from caesura.engine.updates import update
from caesura.errors import (
    AuthoringError,
    NotFound,
    QuestionExpired,
    StaleHead,
    UnknownQuestion,
)


async def update_thread(
    graph: Any, performer: Performer, named: Settings, supersteps: Any, by: str | None
) -> dict[str, Any]:
    """`update_state` and `bulk_update_state`."""
    steps = [[StateUpdate(*given) for given in superstep] for superstep in supersteps]
    run_id = 0

    async def act(call: Call) -> None:
        nonlocal run_id
        run_id = await update(call, performer, steps, named.step, named.namespace)

    call = await under_lease(graph, performer, named.thread or "", act, by, settings=named.config)
    view = call.ledger.view
    run = view.runs[run_id]
    return config_of(call.ledger.thread, view.birth, run.step, place_of(view, run)[0])


async def under_lease(
    graph: Any,
    performer: Performer,
    thread: str,
    act: Any,
    by: str | None = None,
    *,
    foreign: bool = False,
    settings: dict[str, Any] | None = None,
) -> Call:
    """Hold the thread while something is written that only its holder may write."""
    graph.need_store("Changing a thread")
    call = Call(graph, graph.ledger_for(thread), settings=settings or graph.settings, by=by)
    call.takes_foreign = foreign
    while True:
        await call.load(performer, free=True)
        await act(call)
        if await call.take(performer):
            break
    await call.end(performer)
    return call


async def settle_effect(
    graph: Any,
    performer: Performer,
    named: Settings,
    effect: str,
    result: Any,
    repeat: bool,
    by: str | None,
) -> None:
    """Say what an unrecorded effect gave."""
    if (result is UNSET) == (not repeat):
        raise AuthoringError(
            f"settle(thread, {effect!r}) needs either result=..., what the effect gave, or "
            f"repeat=True, to let it happen again."
        )

    async def act(call: Call) -> None:
        call.ledger.require()
        step, index, name = _lost_effect(call.ledger, effect)
        value = None if result is UNSET else result
        call.ledger.stage(Settled(step, index, name, repeat, value, by))

    await under_lease(graph, performer, named.thread or "", act, by)


def _lost_effect(ledger: Ledger, effect: str) -> tuple[int, int, str]:
    """Where it was performed; a function is also known by the last part of its name."""
    lost = []
    for key, journal in ledger.view.journals.items():
        for recording in journal.recordings:
            if recording.lost is not None:
                lost.append(recording.name)
                if effect in (recording.name, recording.name.rpartition(".")[2]):
                    step, _, index = key.partition(".")
                    return int(step), int(index), recording.name
    known = f"Left open are {', '.join(map(repr, lost))}." if lost else "Nothing is left open."
    raise NotFound(f"No effect {effect!r} of thread {ledger.thread!r} is to be settled. {known}")


# ------------------------------------------------------------------------------- without the lease
def beside(graph: Any, thread: str, make: Callable[[Ledger], Sequence[Event]]) -> Ledger:
    """Append events that commute with whatever a runner writes."""
    graph.need_store("Changing a thread")
    while True:
        ledger: Ledger = graph.ledger_for(thread)
        ledger.load()
        if ledger.exists and ledger.view.graph != graph.plan.name:
            ledger.family = Family(None)  # what it writes is reduced by the graph that it is of
            ledger.load()
        if not ledger.exists:
            open_here(Call(graph, ledger, settings={}))
        ledger.stage(*make(ledger))
        try:
            ledger.append_beside()
        except StaleHead:
            continue
        return ledger


def record_answer(graph: Any, question: str, value: Any, by: str | None) -> None:
    """An answer from anywhere; what is late is closed instead, and refused."""
    store = graph.need_store("Answering")
    stored = store.question(question)
    if stored is None:
        raise UnknownQuestion(
            [question],
            open_ids=[],
            reason=f"No question {question!r} was ever asked in this store.",
        )
    late: list[int] = []

    def events(ledger: Ledger) -> list[Event]:
        late.clear()
        asking = find_question(ledger.view, question)
        deadline = asking.question.deadline if asking is not None else None
        is_open = asking is not None and asking.status == "open"
        if is_open and deadline is not None and deadline <= ledger.clock.now():
            late.append(deadline)
            return [Expired(question)]
        return [answer_to(ledger, question, value, by)]

    beside(graph, stored.thread, events)
    if late:
        raise QuestionExpired(question, instant(late[0]))
