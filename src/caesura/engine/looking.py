"""Read a thread: its state, a step of it, its history. Writes nothing and takes no lease."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caesura.core.control import StateSnapshot
from caesura.engine.calls import changed_reducers
from caesura.engine.ledger import Ledger
from caesura.engine.settings import Settings
from caesura.engine.snapshots import Album
from caesura.errors import AuthoringError, GraphMismatch, SchemaChanged


def loaded(graph: Any, thread: str) -> Ledger:
    """The thread as the store has it."""
    graph.need_store("Looking at a thread")
    ledger: Ledger = graph.ledger_for(thread)
    ledger.load()
    return ledger


def readable(graph: Any, thread: str) -> Ledger:
    """The thread as this graph reads it; refused where the graph would read something else."""
    ledger = loaded(graph, thread)
    view = ledger.view
    if view.graph and view.graph != graph.plan.name:
        raise GraphMismatch(thread, recorded=view.graph, given=graph.plan.name)
    if changed := changed_reducers(view.reducers, graph.plan):
        raise SchemaChanged(thread, changed)
    return ledger


def state(graph: Any, named: Settings, *, subgraphs: bool) -> StateSnapshot:
    ledger = readable(graph, named.thread or "")
    album = Album(graph, ledger, named.namespace)
    if named.step is not None:
        return album.at(named.step, subgraphs=subgraphs)
    return album.now(subgraphs=subgraphs)


def history(
    graph: Any, named: Settings, wanted: Mapping[str, Any] | None, before: Any, limit: int | None
) -> list[StateSnapshot]:
    ledger = readable(graph, named.thread or "")
    if not ledger.exists:
        return []
    if before is not None and not isinstance(before, str):
        configurable = before.get("configurable", {}) if isinstance(before, Mapping) else {}
        before = configurable.get("checkpoint_id")
        if before is None:
            raise AuthoringError(
                "before= names a step: give a snapshot's config, or a checkpoint_id."
            )
    album = Album(graph, ledger, named.namespace)
    return list(album.history(wanted=wanted, step=named.step, before=before, limit=limit))
