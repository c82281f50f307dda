"""The two libraries behind one set of names, so that a benchmark's graph is written once.

Promises: both get the same graph code, and stores of the same kind with the same pragmas (WAL,
synchronous=FULL). Nothing is imported before a side runs.
Called by every measurement that runs a graph.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import Figures, Round, Side, Unavailable

Saver = Any
Open = Callable[[Path], AbstractContextManager[Saver]]


@dataclass(frozen=True)
class Library:
    """What a benchmark's graph is built from."""

    StateGraph: Any
    START: str
    END: str
    Send: Any
    Command: Any
    interrupt: Any
    memory: Open
    sqlite: Open
    sqlite_async: Callable[[Path], AbstractAsyncContextManager[Saver]]


def caesura() -> Library:
    try:
        from caesura import (
            END,
            START,
            Command,
            MemoryStore,
            Send,
            SqliteStore,
            StateGraph,
            interrupt,
        )
    except ImportError as error:
        raise Unavailable(f"caesura cannot be imported: {error}") from error

    @contextmanager
    def memory(_: Path) -> Any:
        with MemoryStore() as store:
            yield store

    @contextmanager
    def sqlite(directory: Path) -> Any:
        with SqliteStore(directory / "caesura.db", synchronous="full") as store:
            yield store

    @asynccontextmanager
    async def sqlite_async(directory: Path) -> Any:
        with sqlite(directory) as store:
            yield store

    return Library(StateGraph, START, END, Send, Command, interrupt, memory, sqlite, sqlite_async)


def langgraph() -> Library:
    try:
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import Command, Send, interrupt
    except ImportError as error:
        raise Unavailable(f"langgraph is not installed ({error}); see the bench extra") from error

    @contextmanager
    def memory(_: Path) -> Any:
        yield InMemorySaver()

    @contextmanager
    def sqlite(directory: Path) -> Any:
        connection = sqlite3.connect(directory / "langgraph.db", check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        saver = SqliteSaver(connection)
        saver.setup()
        try:
            yield saver
        finally:
            connection.close()

    @asynccontextmanager
    async def sqlite_async(directory: Path) -> Any:
        async with AsyncSqliteSaver.from_conn_string(str(directory / "langgraph.db")) as saver:
            await saver.setup()
            await saver.conn.execute("pragma synchronous = full")
            yield saver

    return Library(StateGraph, START, END, Send, Command, interrupt, memory, sqlite, sqlite_async)


def both(program: Callable[[Library, Path, int], Figures]) -> dict[Side, Round]:
    """The same program as two sides, ours and LangGraph's."""
    return {
        "ours": partial(_with, caesura, program),
        "langgraph": partial(_with, langgraph, program),
    }


def _with(
    library: Callable[[], Library],
    program: Callable[[Library, Path, int], Figures],
    directory: Path,
    size: int,
) -> Figures:
    return program(library(), directory, size)


def thread(name: str, **settings: Any) -> dict[str, Any]:
    """A config that both libraries take."""
    return {"configurable": {"thread_id": name}, **settings}
