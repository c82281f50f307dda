"""One test body for two APIs and every store.

Promises: what a test says to an `App` goes to the sync API in one run of the test and to its async
twin in the next, on each kind of store; time stands still until the test moves it.
Does not promise: anything of its own. It calls the public API and gives back what that returned.
Used by the tests below this directory through the fixture `app`.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

Api = Literal["sync", "async"]
StoreKind = Literal["memory", "sqlite", "encrypted"]

THREAD = "t"
PATIENCE_S = 10.0  # how long a test waits for a thread or a task; only a failing one waits in full


class Story(TypedDict, total=False):
    """The state of most tests: a plain key, and a list that grows."""

    amount: int
    notes: Annotated[list[str], operator.add]


class App:
    """A program that runs graphs on one store through one of the two APIs."""

    def __init__(self, api: Api, kind: StoreKind, directory: Path) -> None:
        from caesura.testing import ManualClock

        self.api = api
        self.kind = kind
        self.clock = ManualClock()
        self._file = directory / "app.db"
        self.store = self._open()

    # ------------------------------------------------------------------------------- arranging
    def chain(self, *nodes: Callable[..., Any], state: Any = Story, **options: Any) -> Any:
        """A graph that runs these functions one after another."""
        from caesura import END, START, StateGraph

        builder = StateGraph(state)
        names = [START, *(node.__name__ for node in nodes), END]
        for node in nodes:
            builder.add_node(node)
        for source, target in pairwise(names):
            builder.add_edge(source, target)
        return self.compile(builder, **options)

    def side_by_side(self, *nodes: Callable[..., Any], state: Any = Story, **options: Any) -> Any:
        """A graph that runs these functions in one superstep."""
        from caesura import END, START, StateGraph

        builder = StateGraph(state)
        for node in nodes:
            builder.add_node(node)
            builder.add_edge(START, node.__name__)
            builder.add_edge(node.__name__, END)
        return self.compile(builder, **options)

    def compile(self, builder: Any, **options: Any) -> Any:
        """Compile on this program's store. All graphs of a test are versions of one graph."""
        options.setdefault("checkpointer", self.store)
        return builder.compile(**{"name": "story", **options})

    def restart(self) -> None:
        """End the program and start it again; graphs are to be compiled anew."""
        if self.kind == "sqlite":
            self.store.close()
            self.store = self._open()

    def wait(self, **length: float) -> None:
        """Let time pass."""
        self.clock.advance(timedelta(**length).total_seconds())

    # ----------------------------------------------------------------------------------- acting
    def run(self, graph: Any, value: Any, **options: Any) -> Any:
        """Give an input, a `Command` or `None` to the graph."""
        return self.call(graph, "invoke", value, **self._on_a_thread(options))

    def answer(self, graph: Any, value: Any, **options: Any) -> Any:
        """Answer and go on, in the words of LangGraph."""
        from caesura import Command

        return self.run(graph, Command(resume=value), **options)

    def go_on(self, graph: Any, **options: Any) -> Any:
        """Call the graph with nothing new."""
        return self.run(graph, None, **options)

    def stream(self, graph: Any, value: Any, **options: Any) -> list[Any]:
        """Everything that a stream yields."""
        options = self._on_a_thread(options)
        if self.api == "sync":
            return list(graph.stream(value, **options))

        async def everything() -> list[Any]:
            return [chunk async for chunk in graph.astream(value, **options)]

        return asyncio.run(everything())

    def record_answer(self, graph: Any, question_id: str, value: Any, **options: Any) -> Any:
        """Answer from anywhere, running nothing."""
        return self.call(graph, "answer", question_id, value, **options)

    def update(self, graph: Any, values: Any, *, thread: str = THREAD, **options: Any) -> Any:
        return self.call(graph, "update_state", thread, values, **options)

    def settle(self, graph: Any, effect: str, *, thread: str = THREAD, **options: Any) -> Any:
        return self.call(graph, "settle", thread, effect, **options)

    # ---------------------------------------------------------------------------------- looking
    def state(self, graph: Any, *, thread: str = THREAD, **options: Any) -> Any:
        return self.call(graph, "get_state", thread, **options)

    def history(self, graph: Any, *, thread: str = THREAD, **options: Any) -> list[Any]:
        """Every entry of the thread's history, newest first."""
        if self.api == "sync":
            return list(graph.get_state_history(thread, **options))

        async def everything() -> list[Any]:
            return [entry async for entry in graph.aget_state_history(thread, **options)]

        return asyncio.run(everything())

    def open_questions(self, graph: Any, *, thread: str = THREAD) -> list[Any]:
        """What the thread waits for, by payload."""
        return [question.value for question in self.state(graph, thread=thread).interrupts]

    def status_of(self, question_id: str) -> str:
        """What became of a question, as the inbox shows it."""
        return str(self.store.question(question_id).row.status)

    # --------------------------------------------------------------------------------- the twins
    def call(self, graph: Any, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of the graph, or its async twin."""
        if self.api == "sync":
            return getattr(graph, method)(*args, **options)

        async def on_a_loop() -> Any:
            return await getattr(graph, f"a{method}")(*args, **options)

        return asyncio.run(on_a_loop())

    @staticmethod
    def _on_a_thread(options: dict[str, Any]) -> dict[str, Any]:
        return options if "config" in options else {"thread": THREAD, **options}

    def _open(self) -> Any:
        from caesura import MemoryStore, SqliteStore

        if self.kind == "sqlite":
            return SqliteStore(str(self._file), clock=self.clock)
        plain = MemoryStore(clock=self.clock)
        if self.kind == "memory":
            return plain
        from caesura import EncryptedStore

        return EncryptedStore(plain, keys={"first": b"k" * 32}, current="first")
