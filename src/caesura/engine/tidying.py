"""Tidy up: delete, copy and prune threads, and hand them over to another graph.

Promises: a thread that is being run is left alone (`ThreadBusy`). Pruning forgets old steps and
changes nothing of what a thread is now. Called by the facade.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from caesura.core.events import Opened, Pruned, Rewound
from caesura.core.history import Fold
from caesura.core.view import ThreadView
from caesura.engine.calls import Call, reducers_of
from caesura.engine.changing import under_lease
from caesura.engine.families import Family
from caesura.engine.leases import wish_for
from caesura.engine.ledger import Ledger
from caesura.engine.looking import loaded
from caesura.engine.past import Past
from caesura.engine.performer import Performer
from caesura.engine.rewinding import cleaned
from caesura.engine.settings import Settings
from caesura.engine.snapshots import config_of
from caesura.errors import AuthoringError, Conflict

PAGE = 200


def delete(graph: Any, named: Settings) -> bool:
    ledger = loaded(graph, named.thread or "")
    if not ledger.exists:
        return False
    assert ledger.store is not None
    wish_for(ledger.store, ledger.thread, "", ledger.lease)
    return ledger.store.delete_thread(ledger.thread)


async def copy(
    graph: Any, performer: Performer, source: Settings, target: Settings
) -> dict[str, Any]:
    """A new thread with the state of another one, or of one of its steps."""
    origin = await performer.store(lambda: loaded(graph, source.thread or ""))
    origin.require()
    view, ordinal = await performer.store(lambda: _state_to_copy(graph, origin, source.step))

    async def act(call: Call) -> None:
        if call.ledger.exists:
            raise Conflict(
                f"There is a thread {call.ledger.thread!r} already. Copy to another name, or delete it "
                f"first with graph.delete_thread({call.ledger.thread!r})."
            )
        call.ledger.stage(
            Opened(call.ids.new(), view.graph, view.reducers),
            Rewound(ordinal, "copy", view, origin=origin.thread),
        )

    call = await under_lease(graph, performer, target.thread or "", act)
    now = call.ledger.view
    return config_of(call.ledger.thread, now.birth, now.runs[0].step)


def _state_to_copy(graph: Any, origin: Ledger, step: str | None) -> tuple[ThreadView, int]:
    if step is None:
        root = origin.view.runs[0]
        return cleaned(origin.view, root), root.step
    from caesura.engine.naming import ordinal_of
    from caesura.errors import UnknownStep

    ordinal = ordinal_of(origin.view.birth, step)
    past = Past.of(graph, origin).view_at(ordinal) if ordinal is not None else None
    if past is None or ordinal is None:
        raise UnknownStep(origin.thread, step)
    return cleaned(past[0], past[0].runs[0]), ordinal


async def adopt(graph: Any, performer: Performer, named: Settings) -> None:
    """From here on the thread is this graph's, read with its reducers."""

    async def act(call: Call) -> None:
        ledger = call.ledger
        ledger.require()
        plan = graph.plan
        ledger.stage(Opened(ledger.view.birth, plan.name, reducers_of(plan)))

    await under_lease(graph, performer, named.thread or "", act, foreign=True)


# ----------------------------------------------------------------------------------------- pruning
async def prune(
    graph: Any,
    performer: Performer,
    named: Settings | None,
    older_than: timedelta | float | None,
    keep_last: int | None,
) -> int:
    store = graph.need_store("Pruning")
    if older_than is None and keep_last is None:
        raise AuthoringError("prune() needs older_than=..., keep_last=..., or both.")
    if keep_last is not None and keep_last < 1:
        raise AuthoringError(f"keep_last={keep_last}: a thread keeps at least its last step.")
    age = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
    before = None if age is None else store.clock.now() - round(age * 1e6)
    if named is not None:
        return await _prune_one(graph, performer, named.thread or "", before, keep_last)
    forgotten, last = 0, None
    while True:
        page = await performer.store(
            lambda: store.threads(graph=graph.plan.name, after=last, limit=PAGE)
        )  # noqa: B023
        for stored in page:
            forgotten += await _prune_one(graph, performer, stored.thread, before, keep_last)
        if len(page) < PAGE:
            return forgotten
        last = page[-1].thread


async def _prune_one(
    graph: Any, performer: Performer, thread: str, before: int | None, keep_last: int | None
) -> int:
    forgotten, upto = 0, 0

    async def act(call: Call) -> None:
        nonlocal forgotten, upto
        call.ledger.require()
        forgotten, upto = await performer.store(
            lambda: _plan_pruning(graph, call.ledger, before, keep_last)
        )

    call = await under_lease(graph, performer, thread, act)
    store = graph.need_store("Pruning")
    if upto:
        await performer.store(lambda: store.prune(call.ledger.thread, upto=upto))
    return forgotten


def _plan_pruning(
    graph: Any, ledger: Ledger, before: int | None, keep_last: int | None
) -> tuple[int, int]:
    """How many steps go, and up to which record; stages the snapshot that stands for them."""
    past = Past.of(graph, ledger)
    entries = [e for e in past.read() if e.run == 0 and not e.hidden]
    gone = [e for e in entries if before is None or e.at < before]
    most = len(entries) - (keep_last or 1)
    kept_from = min(len(gone), most)
    if kept_from <= 0:
        return 0, 0
    first_kept = entries[kept_from].ordinal
    view, seq = _as_of_the_record_before(graph, ledger, first_kept)
    if view is None:
        return 0, 0
    ledger.stage(Pruned(seq))
    ledger.take_snapshot(seq, view)
    return kept_from, seq


def _as_of_the_record_before(
    graph: Any, ledger: Ledger, ordinal: int
) -> tuple[ThreadView | None, int]:
    """The thread as of the last record that was complete when a step was made."""
    assert ledger.store is not None
    snapshot, records = Past.of(graph, ledger).from_the_beginning()
    after = snapshot.seq if snapshot is not None else 0
    records = [
        (record.seq, *ledger.codec.decode(record.body)) for record in records if record.seq > after
    ]

    def begin() -> Fold:
        view = ThreadView() if snapshot is None else ledger.codec.decode_view(snapshot.body)
        return Fold(view, Family(graph.plan).spec)

    fold, upto = begin(), 0
    for seq, at, events in records:
        fold.apply(at, events)
        if fold.view.steps > ordinal:
            break
        upto = seq
    if not upto:
        return None, 0
    fold = begin()
    for seq, at, events in records:
        if seq > upto:
            break
        fold.apply(at, events)
    return fold.view, upto
