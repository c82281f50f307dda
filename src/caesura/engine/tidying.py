"""Tidy up: delete and copy threads, and hand them over to another graph.

Promises: a thread that is being run is left alone (`ThreadBusy`); a copy never needs its origin.
Called by the facade. Pruning is in `engine.pruning`.
"""

from __future__ import annotations

from typing import Any

from caesura.core.events import Opened, Rewound
from caesura.core.view import ThreadView
from caesura.engine.calls import Call, reducers_of
from caesura.engine.changing import under_lease
from caesura.engine.leases import wish_for
from caesura.engine.ledger import Ledger
from caesura.engine.looking import loaded, readable
from caesura.engine.performer import Performer
from caesura.engine.rewinding import cleaned, step_of
from caesura.engine.settings import Settings
from caesura.engine.showing import config_of
from caesura.errors import Conflict, UnknownThread


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
    origin = await performer.store(lambda: readable(graph, source.thread or ""))
    view, ordinal = await performer.store(lambda: _state_to_copy(graph, origin, source.step))

    async def act(call: Call) -> None:
        if call.ledger.exists:
            raise Conflict(
                f"There is a thread {call.ledger.thread!r} already. Copy to another name, or "
                f"delete it first with graph.delete_thread({call.ledger.thread!r})."
            )
        call.ledger.stage(
            Opened(call.ids.new(), view.graph, view.reducers),
            Rewound(ordinal, "copy", view, origin=origin.thread),
        )

    call = await under_lease(graph, performer, target.thread or "", act)
    now = call.ledger.view
    return config_of(call.ledger.thread, now.birth, now.runs[0].step)


def _state_to_copy(graph: Any, origin: Ledger, step: str | None) -> tuple[ThreadView, int]:
    if step is not None:
        ordinal, view, _ = step_of(graph, origin, step)
        return cleaned(view, view.runs[0]), ordinal
    root = origin.view.runs.get(0)
    if root is None:
        raise UnknownThread(origin.thread)
    return cleaned(origin.view, root), root.step


async def adopt(graph: Any, performer: Performer, named: Settings, by: str | None) -> None:
    """From here on the thread is this graph's, read with its reducers."""

    async def act(call: Call) -> None:
        ledger = call.ledger
        ledger.require()
        plan = graph.plan
        ledger.stage(Opened(ledger.view.birth, plan.name, reducers_of(plan), by))

    await under_lease(graph, performer, named.thread or "", act, foreign=True)
