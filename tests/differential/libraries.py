"""The two libraries behind one set of names, and their stores.

Promises: `names(library)` has everything a script may use; `open_store` makes a fresh store of the
asked kind. Each library is imported where it is used, so that one can be looked at without the other.
Called by `driver`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

Library = Literal["langgraph", "caesura"]
StoreKind = Literal["memory", "sqlite"]

NAMES = (
    "StateGraph START END Send Command Overwrite Interrupt RetryPolicy TimeoutPolicy StateUpdate "
    "NodeError MessagesState add_messages interrupt entrypoint task get_config get_stream_writer "
    "get_runtime Runtime"
).split()
ERRORS = (
    "GraphRecursionError InvalidUpdateError EmptyInputError NodeTimeoutError ParentCommand"
).split()


def names(library: Library) -> dict[str, Any]:
    """Everything that scripts call, by the name that both libraries share."""
    return _langgraph_names() if library == "langgraph" else _caesura_names()


def _langgraph_names() -> dict[str, Any]:
    from langgraph import config, errors, func, graph, runtime, types

    modules = (graph, types, func, config, runtime, errors)
    return {name: _find(name, modules) for name in (*NAMES, *ERRORS)}


def _find(name: str, modules: tuple[Any, ...]) -> Any:
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def _caesura_names() -> dict[str, Any]:
    import caesura

    return {name: getattr(caesura, name) for name in (*NAMES, *ERRORS)}


Closer = Callable[[], Any]
RunAsync = Callable[[Awaitable[Any]], Any]


def open_store(
    library: Library, kind: StoreKind, folder: Path, run_async: RunAsync | None
) -> tuple[Any, Closer]:
    """A fresh store and how to close it; `run_async` is there when the async API is used."""
    if library == "caesura":
        from caesura import MemoryStore, SqliteStore

        store = (
            MemoryStore() if kind == "memory" else SqliteStore(_path(folder), synchronous="normal")
        )
        return store, store.close
    if kind == "memory":
        from langgraph.checkpoint.memory import InMemorySaver

        return InMemorySaver(), lambda: None
    return _sync_saver(folder) if run_async is None else run_async(_async_saver(folder, run_async))


def _path(folder: Path) -> Path:
    return folder / f"{len(list(folder.glob('*.db')))}.db"


def _sync_saver(folder: Path) -> tuple[Any, Closer]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(_path(folder), check_same_thread=False)
    connection.execute("pragma synchronous=off")
    return SqliteSaver(connection), connection.close


async def _async_saver(folder: Path, run_async: RunAsync) -> tuple[Any, Closer]:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    connection = await aiosqlite.connect(_path(folder))
    await connection.execute("pragma synchronous=off")
    return AsyncSqliteSaver(connection), lambda: run_async(connection.close())
