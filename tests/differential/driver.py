"""Run one script on one library and write down everything that its user would see.

Promises: every call through a `Talk` is noted with its result or its error, and a script goes on
after an error as a person at a prompt would. The sync and the async API take the same script.
Does not promise: to compare anything; see `test_differential`.
Called by the tests and by `__main__`.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .libraries import Library, StoreKind, names, open_store
from .normalise import Normaliser
from .registry import Case, Style

Record = list[tuple[str, Any]]


@dataclass(frozen=True)
class Flavour:
    """Through which API and on which store a script runs."""

    store: StoreKind = "memory"
    style: Style = "sync"

    def __str__(self) -> str:
        return f"{self.store}-{self.style}"


def play(case: Case, library: Library, flavour: Flavour) -> Record:
    """The story of `case` as somebody who uses `library` sees it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api = Api(library, flavour, Path(folder))
        try:
            case.script(api)
        except Exception as error:  # the library lacks something that the script takes for granted
            api.record.append(("the script broke", f"{type(error).__name__}: {error}"))
        finally:
            api.close()
        return api.record


class Api:
    """What a script is given: the library's names, stores, and a place to note observations."""

    def __init__(self, library: Library, flavour: Flavour, folder: Path) -> None:
        self.record: Record = []
        self.seen = Normaliser()
        self.is_async = flavour.style == "async"
        self._library, self._flavour, self._folder = library, flavour, folder
        self._runner = asyncio.Runner() if self.is_async else None
        self._closers: list[Callable[[], Any]] = []
        self._counts: dict[str, itertools.count[int]] = {}
        self.__dict__.update(names(library))

    def checkpointer(self) -> Any:
        run = self._runner.run if self._runner else None
        store, close = open_store(self._library, self._flavour.store, self._folder, run)
        self._closers.append(close)
        return store

    def talk(self, graph: Any, thread: str | None = "t") -> Talk:
        """Speak with `graph` about one thread; `None` for a graph without a checkpointer."""
        return Talk(self, graph, thread)

    def note(self, what: str, value: Any) -> None:
        """Write down an observation that the script made by itself."""
        number = next(self._counts.setdefault(what, itertools.count(1)))
        self.record.append((f"{what} {number}", value))

    def attempt(self, what: str, act: Callable[[], Any]) -> Any:
        """Do something that may fail; note what came of it."""
        return self.watch(what, act, self.seen.plain)

    def watch(self, what: str, act: Callable[[], Any], show: Callable[[Any], Any]) -> Any:
        try:
            result = act()
        except Exception as error:
            self.note(what, {"raised": self.seen.error(error)})
            return None
        self.note(what, show(result))
        return result

    def wait(self, call: Any) -> Any:
        """Await in the async style, pass through in the sync one."""
        return self._runner.run(call) if self._runner else call

    def close(self) -> None:
        for close in self._closers:
            close()
        if self._runner:
            self._runner.close()


class Talk:
    """All calls of one user about one thread, each of them noted."""

    def __init__(self, api: Api, graph: Any, thread: str | None) -> None:
        self._api, self._graph, self._thread = api, graph, thread

    def config(self, at: Any = None, **extra: Any) -> dict[str, Any]:
        """The thread's config; `at` is a snapshot, or the config of one, to go back to."""
        if at is not None:
            base = at.config if hasattr(at, "config") else at
            return {**base, **extra}
        return ({"configurable": {"thread_id": self._thread}} if self._thread else {}) | extra

    def _durability(self) -> dict[str, str]:
        """The defaults differ (LangGraph writes behind), so it is said, where there is a store."""
        return {"durability": "sync"} if self._thread else {}

    def _method(self, name: str) -> Any:
        return getattr(self._graph, f"a{name}" if self._api.is_async else name)

    def invoke(self, value: Any, at: Any = None, config: Any = None, **options: Any) -> Any:
        where = self.config(at, **(config or {}))
        options = self._durability() | options
        return self._api.watch(
            "invoke",
            lambda: self._api.wait(self._method("invoke")(value, where, **options)),
            self._api.seen.plain,
        )

    def batch(self, values: list[Any], configs: list[Any]) -> Any:
        return self._api.watch(
            "batch",
            lambda: self._api.wait(self._method("batch")(values, configs)),
            self._api.seen.plain,
        )

    def state(self, at: Any = None, **options: Any) -> Any:
        return self._api.watch(
            "state",
            lambda: self._api.wait(self._method("get_state")(self.config(at), **options)),
            self._api.seen.snapshot,
        )

    def history(self, at: Any = None, **options: Any) -> Any:
        def read() -> list[Any]:
            return self._collect(self._method("get_state_history")(self.config(at), **options))

        return self._api.watch(
            "history", read, lambda all_: [self._api.seen.snapshot(s) for s in all_]
        )

    def update(self, values: Any, at: Any = None, **options: Any) -> Any:
        return self._api.watch(
            "update",
            lambda: self._api.wait(
                self._method("update_state")(self.config(at), values, **options)
            ),
            self._api.seen.config,
        )

    def bulk(self, supersteps: Any, at: Any = None) -> Any:
        return self._api.watch(
            "bulk",
            lambda: self._api.wait(self._method("bulk_update_state")(self.config(at), supersteps)),
            self._api.seen.config,
        )

    def stream(
        self,
        value: Any,
        mode: Any = "updates",
        at: Any = None,
        config: Any = None,
        together: Iterable[str] = (),
        **options: Any,
    ) -> Any:
        """Note every chunk, also those before an error.

        `together` names nodes that run side by side: their neighbouring chunks have no order.
        """
        chunks: list[Any] = []
        options = self._durability() | options

        def read() -> list[Any]:
            where = self.config(at, **(config or {}))
            return self._collect(
                self._method("stream")(value, where, stream_mode=mode, **options), chunks
            )

        error = None
        try:
            read()
        except Exception as caught:
            error = self._api.seen.error(caught)
        self._api.note("stream", self._show(chunks, mode, options, set(together), error))
        return chunks

    def _collect(self, stream: Any, into: list[Any] | None = None) -> list[Any]:
        into = [] if into is None else into
        if not self._api.is_async:
            for item in stream:  # one by one: an error must not lose what came before it
                into.append(item)
            return into

        async def read() -> None:
            async for item in stream:
                into.append(item)

        self._api.wait(read())
        return into

    def _show(
        self, chunks: list[Any], mode: Any, options: dict[str, Any], together: set[str], error: Any
    ) -> list[Any]:
        unpacked = [_unpack(c, mode, options.get("subgraphs", False)) for c in chunks]
        unpacked = _settle(unpacked, together)
        shown: list[Any] = []
        for namespace, kind, data in unpacked:
            parts: tuple[Any, ...] = (self._api.seen.chunk(kind, data),)
            if isinstance(mode, list):
                parts = (kind, *parts)
            if options.get("subgraphs"):
                parts = (self._api.seen.namespace(namespace), *parts)
            shown.append(parts if len(parts) > 1 else parts[0])
        return shown if error is None else [*shown, {"raised": error}]


def _unpack(chunk: Any, mode: Any, subgraphs: bool) -> tuple[Any, str, Any]:
    """(namespace, mode, data) of a chunk, whichever of them it carries."""
    many = isinstance(mode, list)
    match subgraphs, many:
        case True, True:
            return tuple(chunk)  # type: ignore[return-value]
        case True, False:
            return (chunk[0], mode, chunk[1])
        case False, True:
            return ((), chunk[0], chunk[1])
    return ((), mode, chunk)


def _settle(chunks: list[Any], together: set[str]) -> list[Any]:
    """Put neighbours that have no order into one."""

    def side_by_side(chunk: Any) -> bool:
        return bool(together & _who(chunk))

    settled: list[Any] = []
    for unordered, group in itertools.groupby(chunks, key=side_by_side):
        neighbours = list(group)
        settled.extend(sorted(neighbours, key=_order) if unordered else neighbours)
    return settled


def _who(chunk: Any) -> set[str]:
    namespace, kind, data = chunk
    if namespace:
        return {namespace[0].partition(":")[0]}
    match kind, data:
        case "updates", dict():
            return set(data)
        case "tasks", {"name": str(name)}:
            return {name}
        case "debug", {"payload": {"name": str(name)}}:
            return {name}
        case "custom", {"from": str(name)}:
            return {name}
    return set()


def _order(chunk: Any) -> Any:
    _, kind, data = chunk
    finished = kind == "tasks" and "result" in data
    return (finished, sorted(_who(chunk)), repr(data) if kind in ("updates", "custom") else "")
