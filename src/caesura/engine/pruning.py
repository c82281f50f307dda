"""Forget old steps of a thread: those that somebody said are old, and none of what it is now.

Promises: a thread goes on as if nothing had been forgotten; the steps that remain keep their ids
and read as before. What is forgotten is whole records, so a step may stay that shares one with a
step that is to be kept. Called by the facade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from caesura.core.events import Pruned
from caesura.core.history import Fold
from caesura.core.view import ThreadView
from caesura.engine.calls import Call
from caesura.engine.changing import under_lease
from caesura.engine.families import Family
from caesura.engine.ledger import Ledger
from caesura.engine.past import Past
from caesura.engine.performer import Performer
from caesura.engine.settings import Settings
from caesura.errors import AuthoringError, ThreadBusy
from caesura.ports import StoredThread

PAGE = 200


async def prune(
    graph: Any,
    performer: Performer,
    named: Settings | None,
    older_than: timedelta | float | None,
    keep_last: int | None,
) -> int:
    """How many steps were forgotten, of one thread or of all that nobody runs just now."""
    store = graph.need_store("Pruning")
    if older_than is None and keep_last is None:
        raise AuthoringError("prune() needs older_than=..., keep_last=..., or both.")
    if keep_last is not None and keep_last < 1:
        raise AuthoringError(f"keep_last={keep_last}: a thread keeps at least its last step.")
    age = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
    before = None if age is None else store.clock.now() - round(age * 1e6)
    if named is not None:
        return await _prune_one(graph, performer, named.thread or "", before, keep_last)
    forgotten = 0
    page = await performer.store(lambda: _some_threads(graph, None))
    while page:
        for stored in page:
            with suppress(ThreadBusy):
                forgotten += await _prune_one(graph, performer, stored.thread, before, keep_last)
        last = page[-1].thread
        page = await performer.store(lambda after=last: _some_threads(graph, after))  # type: ignore[misc]
    return forgotten


def _some_threads(graph: Any, after: str | None) -> Sequence[StoredThread]:
    found: Sequence[StoredThread] = graph.store.threads(
        graph=graph.plan.name, after=after, limit=PAGE
    )
    return found


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
    entries = [e for e in Past(graph, ledger).read() if e.run == 0 and not e.hidden]
    old = [e for e in entries if before is None or e.at < before]
    kept_from = min(len(old), len(entries) - (keep_last or 1))
    if kept_from <= 0:
        return 0, 0
    view, seq = _as_of_the_record_before(graph, ledger, entries[kept_from].ordinal)
    if not seq:
        return 0, 0
    ledger.stage(Pruned(seq))
    ledger.take_snapshot(seq, view)
    return sum(entry.ordinal < view.steps for entry in entries), seq


def _as_of_the_record_before(graph: Any, ledger: Ledger, ordinal: int) -> tuple[ThreadView, int]:
    """The thread as of the last record that was complete when a step was made."""
    snapshot, records = Past(graph, ledger).from_the_beginning()
    after = snapshot.seq if snapshot is not None else 0

    def folded() -> Iterator[tuple[int, ThreadView]]:
        """The thread behind each record. A view and its events belong to whoever folds them."""
        view = ThreadView() if snapshot is None else ledger.codec.decode_view(snapshot.body)
        fold = Fold(view, Family(graph.plan).spec)
        for record in records:
            if record.seq > after:
                fold.apply(*ledger.codec.decode(record.body))
                yield record.seq, fold.view

    upto = 0
    for seq, view in folded():
        if view.steps > ordinal:
            break
        upto = seq
    for seq, view in folded():  # again, for the first time went one record too far
        if seq == upto:
            return view, upto
    return ThreadView(), 0
