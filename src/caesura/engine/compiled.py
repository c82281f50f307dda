"""A compiled graph: what programs call. Everything comes in a sync and an async form.

Promises: each method is one coroutine of the engine, carried out in place or on the caller's
loop; the two forms behave the same. Called inside of a node, a graph is a child run of that node's
thread, unless another thread is named.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from caesura.core.plan import Plan
from caesura.engine import running
from caesura.engine.codec import Codec
from caesura.engine.families import Family
from caesura.engine.ledger import Ledger
from caesura.engine.orders import Order
from caesura.engine.performer import IN_PLACE, ON_LOOP, Performer, drive
from caesura.engine.registry import Registry
from caesura.engine.results import result_of_call
from caesura.engine.scopes import Scope
from caesura.engine.settings import read_settings
from caesura.engine.streaming import streamed, streamed_on_loop
from caesura.engine.threads import Threads
from caesura.errors import InvalidCall, NeedsCheckpointer

if TYPE_CHECKING:
    from caesura.core.draw import Drawing
    from caesura.ports import Clock, Ids, Store

Names = Sequence[str] | Literal["*"] | None


class CompiledGraph(Threads):
    """A graph that can be run."""

    def __init__(
        self,
        plan: Plan,
        checkpointer: Any = None,
        *,
        types: Sequence[Any] = (),
        settings: dict[str, Any] | None = None,
        codec: Codec | None = None,
    ) -> None:
        if not isinstance(checkpointer, bool | None) and not hasattr(checkpointer, "append_soon"):
            raise InvalidCall(
                f"checkpointer={checkpointer!r} is no store. Give one that is open, for example "
                f"SqliteStore('app.db') or MemoryStore()."
            )
        self.plan = plan
        self.name = plan.name
        self.keeps_memory = checkpointer is True
        self.keeps_nothing = checkpointer is False
        self.store: Store | None = None if isinstance(checkpointer, bool) else checkpointer
        self.settings = settings or {}
        self.step_timeout: float | None = None
        self.debug = False  # True: nodes that change the state in place are told so
        self._checkpointer, self._types = checkpointer, types
        limit = self.store.max_bytes if self.store is not None else None
        self.codec = codec or Codec(Registry(plan.types, types), limit)

    @property
    def checkpointer(self) -> Any:
        return self._checkpointer

    @property
    def clock(self) -> Clock:
        if self.store is not None:
            return self.store.clock
        from caesura.system import SystemClock

        return SystemClock()

    @property
    def ids(self) -> Ids:
        if self.store is not None:
            return self.store.ids
        from caesura.system import SystemIds

        return SystemIds()

    # ------------------------------------------------------------------------------------- building
    def with_config(self, config: dict[str, Any] | None = None, **more: Any) -> Self:
        """The same graph with settings that every call begins from."""
        merged = read_settings(self.settings, {**(config or {}), **more}).config
        twin = type(self)(
            self.plan, self._checkpointer, types=self._types, settings=merged, codec=self.codec
        )
        twin.step_timeout, twin.debug = self.step_timeout, self.debug
        return twin

    def get_graph(self, config: Any = None, *, xray: bool | int = False) -> Drawing:
        """The graph as a drawing: Mermaid, plain text, or data for a user interface."""
        from caesura.core.draw import Drawing

        return Drawing.of(self.plan, xray)

    def get_subgraphs(
        self, namespace: str | None = None, recurse: bool = False
    ) -> Iterator[tuple[str, CompiledGraph]]:
        """The graphs that are nodes of this one, or are called by its nodes, by node name."""
        for node, children in self.plan.children.items():
            for child in children:
                if namespace is None or namespace == node:
                    yield node, child
                if recurse and (namespace is None or namespace.startswith(f"{node}|")):
                    rest = None if namespace is None else namespace.removeprefix(f"{node}|")
                    for inner, graph in child.get_subgraphs(rest, recurse=True):
                        yield f"{node}|{inner}", graph

    # -------------------------------------------------------------------------------------- running
    def invoke(self, input: Any, config: dict[str, Any] | None = None, **options: Any) -> Any:
        """Run until the graph finishes, waits or is held.

        `input` is the state to start with, a `Command`, or None to go on. Options: `thread`,
        `context`, `stream_mode`, `output_keys`, `interrupt_before`, `interrupt_after`, `durability`
        ("sync", "async", "exit"), `on_busy` ("raise", "wait"), `request_id`, `by`.
        """
        return drive(self._invoke(IN_PLACE, input, config, options))

    async def ainvoke(
        self, input: Any, config: dict[str, Any] | None = None, **options: Any
    ) -> Any:
        """`invoke` on the running event loop."""
        return await self._invoke(ON_LOOP, input, config, options)

    def stream(
        self, input: Any, config: dict[str, Any] | None = None, **options: Any
    ) -> Iterator[Any]:
        """Run, and yield what happens as it happens. Closing it stops at the next boundary.

        `stream_mode` is one of "values", "updates", "custom", "messages", "tasks", "checkpoints",
        "debug", or a list of them; `subgraphs=True` adds the graphs inside.
        """
        order = self._order(input, config, {"stream_mode": "updates", **options})
        return streamed(self, order)

    def astream(
        self, input: Any, config: dict[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """`stream` on the running event loop."""
        order = self._order(input, config, {"stream_mode": "updates", **options})
        return streamed_on_loop(self, order)

    def batch(
        self,
        inputs: Sequence[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[Any]:
        """Run several inputs side by side; `config` is one for all, or one for each."""
        from concurrent.futures import ThreadPoolExecutor

        configs, most = _for_each(inputs, config)
        with ThreadPoolExecutor(max_workers=min(most, 64)) as pool:
            runs = [
                pool.submit(self.invoke, given, one, **options)
                for given, one in zip(inputs, configs, strict=True)
            ]
        if return_exceptions:
            return [run.exception() or run.result() for run in runs]
        return [run.result() for run in runs]

    async def abatch(
        self,
        inputs: Sequence[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[Any]:
        """`batch` on the running event loop."""
        import asyncio

        configs, most = _for_each(inputs, config)
        free = asyncio.Semaphore(most)

        async def one(given: Any, its: Any) -> Any:
            async with free:
                return await self.ainvoke(given, its, **options)

        runs = [one(given, its) for given, its in zip(inputs, configs, strict=True)]
        results = await asyncio.gather(*runs, return_exceptions=True)
        if not return_exceptions:
            for result in results:
                if isinstance(result, BaseException):
                    raise result
        return list(results)

    def drain(self, timeout: float | None = None) -> bool:
        """Stop this graph's running threads at their next boundary, and wait until they have."""
        return running.drain(timeout, graph=self)

    async def adrain(self, timeout: float | None = None) -> bool:
        return bool(await ON_LOOP.store(lambda: running.drain(timeout, graph=self)))

    # ------------------------------------------------------------------------------ how it is done
    def _order(self, value: Any, config: dict[str, Any] | None, options: dict[str, Any]) -> Order:
        return Order(
            self, value, read_settings(self.settings, config, options.pop("thread", None)), options
        )

    async def _invoke(
        self,
        performer: Performer,
        value: Any,
        config: dict[str, Any] | None,
        options: dict[str, Any],
    ) -> Any:
        order = self._order(value, config, dict(options))
        scope = order.scope()
        if scope is not None:
            from caesura.engine.children import call_graph

            output = await call_graph(scope, self, value, performer, order.settings.config)
            if scope.work.call.durability == "sync":
                await performer.commit(scope.work.call.ledger)
            return output
        if order.stream is not None:
            order.stream.has_reader = False
            await order.run(performer)
            chunks = order.stream.take()
            return (
                chunks if order.stream.modes != {"values"} or order.stream.has_many else chunks[-1]
            )
        work = await order.run(performer)
        return result_of_call(work, order.output_keys)

    async def run_unstored(
        self, value: Any, performer: Performer, scope: Scope, settings: dict[str, Any]
    ) -> Any:
        """Run without any memory, for a child that was compiled with checkpointer=False."""
        order = Order(
            self,
            value,
            read_settings(self.settings, settings),
            {"context": scope.work.call.context},
        )
        return dict(result_of_call(await order.run(performer)))

    def ledger_for(self, thread: str | None) -> Ledger:
        """A ledger that was not yet loaded; without a thread, or a store, nothing is kept."""
        store = self.store if thread is not None else None
        return Ledger(store, self.codec, self.clock, thread or "", Family(self.plan))

    def need_store(self, what: str) -> Store:
        if self.store is None:
            raise NeedsCheckpointer(
                f"{what} needs a store: compile the graph with one, for example "
                f"compile(checkpointer=SqliteStore('app.db'))."
            )
        return self.store


def _for_each(inputs: Sequence[Any], config: Any) -> tuple[list[Any], int]:
    """The config of every input of a batch, and how many of them may run at once."""
    configs = config if isinstance(config, list) else [config] * len(inputs)
    return configs, max([1, *((c or {}).get("max_concurrency") or len(inputs) for c in configs)])
