"""A compiled graph: what programs call. Everything comes in a sync and an async form.

Promises: each method is one coroutine of the engine, carried out in place or on the caller's loop;
the two forms behave the same. Called inside of a node, a graph is a child run of that node's thread,
unless another thread is named.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from caesura.core.control import END
from caesura.core.plan import Plan
from caesura.engine import running
from caesura.engine.calling import run_call
from caesura.engine.calls import Call, Durability, OnBusy, Work
from caesura.engine.codec import Codec
from caesura.engine.families import Family
from caesura.engine.inputs import Wish
from caesura.engine.ledger import Ledger
from caesura.engine.performer import IN_PLACE, ON_LOOP, Performer, drive
from caesura.engine.registry import Registry
from caesura.engine.results import result_of_call
from caesura.engine.scopes import SCOPE, Scope
from caesura.engine.settings import Settings, read_settings
from caesura.engine.stream import Stream
from caesura.engine.threads import Threads
from caesura.errors import AuthoringError, NeedsCheckpointer, UnknownNode

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
        self.plan = plan
        self.name = plan.name
        self.keeps_memory = checkpointer is True
        self.keeps_nothing = checkpointer is False
        self.store: Store | None = None if isinstance(checkpointer, bool) else checkpointer
        self.settings = settings or {}
        self.step_timeout: float | None = None
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
        twin.step_timeout = self.step_timeout
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
        """Run, and yield what happens as it happens. Closing the iterator stops at the next boundary.

        `stream_mode` is one of "values", "updates", "custom", "messages", "tasks", "checkpoints",
        "debug", or a list of them; `subgraphs=True` adds the graphs inside.
        """
        order = self._order(input, config, {"stream_mode": "updates", **options})
        return _streamed(self, order)

    def astream(
        self, input: Any, config: dict[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """`stream` on the running event loop."""
        order = self._order(input, config, {"stream_mode": "updates", **options})
        return _streamed_on_loop(self, order)

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

        configs = config if isinstance(config, list) else [config] * len(inputs)
        most = max([1, *((c or {}).get("max_concurrency") or len(inputs) for c in configs)])
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

        configs = config if isinstance(config, list) else [config] * len(inputs)
        most = max([1, *((c or {}).get("max_concurrency") or len(inputs) for c in configs)])
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
            from caesura.engine.children import call_child

            output = await call_child(scope, self, value, performer, order.settings.config)
            if scope.work.call.durability == "sync":
                await performer.commit(scope.work.call.ledger)
            return output
        if order.stream is not None:
            work = await order.run(performer)
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


_OPTIONS = frozenset(
    "context stream_mode output_keys interrupt_before interrupt_after durability subgraphs on_busy "
    "request_id by print_mode debug version".split()
)


class Order:
    """What one caller asks for, checked."""

    def __init__(
        self, graph: CompiledGraph, value: Any, settings: Settings, options: dict[str, Any]
    ) -> None:
        unknown = sorted(set(options) - _OPTIONS)
        if unknown:
            from caesura.errors import nearest

            hint = nearest(unknown[0], _OPTIONS, f"There are {', '.join(sorted(_OPTIONS))}.")
            raise TypeError(f"invoke() got an unexpected option {unknown[0]!r}. {hint}")
        self.graph, self.value, self.settings = graph, value, settings
        self.context = options.get("context")
        self.output_keys = options.get("output_keys")
        self.durability: Durability = options.get("durability") or "sync"
        self.on_busy: OnBusy = options.get("on_busy", "raise")
        self.by = options.get("by")
        self.request_id = options.get("request_id")
        self.before = self._names(options.get("interrupt_before"), "interrupt_before")
        self.after = self._names(options.get("interrupt_after"), "interrupt_after")
        modes = options.get("stream_mode")
        self.stream: Stream | None = None
        if modes is not None:
            self.stream = Stream(
                modes, subgraphs=bool(options.get("subgraphs")), output_keys=self.output_keys
            )
        if self.durability not in ("sync", "async", "exit"):
            raise AuthoringError(f"durability={self.durability!r}: use 'sync', 'async' or 'exit'.")
        if self.on_busy not in ("raise", "wait"):
            raise _BadChoice(f"on_busy={self.on_busy!r}: use 'raise' or 'wait'.")

    def _names(self, given: Names, what: str) -> list[str]:
        names = [given] if isinstance(given, str) else list(given or ())
        for name in names:
            if name not in ("*", END) and name not in self.graph.plan.nodes:
                raise UnknownNode(
                    name, where=f"{what}=", known=tuple(self.graph.plan.nodes), verb="names"
                )
        return names

    def scope(self) -> Scope | None:
        """The pass of the node in which this call is a child run; None for a call of its own."""
        scope = SCOPE.get(None)
        if scope is None:
            return None
        thread = self.settings.thread
        if thread is not None and thread != scope.work.call.ledger.thread:
            return None
        return scope

    async def run(self, performer: Performer) -> Work:
        graph = self.graph
        if graph.keeps_memory:
            raise AuthoringError(
                f"Graph {graph.name!r} was compiled with checkpointer=True, which gives a subgraph a "
                f"memory within its parent's thread. To run it by itself, compile it with a store."
            )
        thread = self.settings.thread
        if graph.store is None:
            thread = None
        elif thread is None:
            raise AuthoringError(
                f"Graph {graph.name!r} keeps its threads, so a call has to name one: "
                f"invoke(..., thread='order-7'), or config={{'configurable': {{'thread_id': ...}}}}."
            )
        call = Call(
            graph,
            graph.ledger_for(thread),
            settings=self.settings.config,
            context=_context(graph.plan.context, self.context),
            durability=self.durability,
            stream=self.stream,
            by=self.by,
        )
        if self.stream is not None and "messages" in self.stream.modes:
            from caesura.engine.tokens import Tokens

            call.watch = Tokens(self.stream)
        wish = Wish(self.value, self.before, self.after, self.request_id, self.settings.step)
        return await run_call(call, wish, performer, self.on_busy)


class _BadChoice(AuthoringError, ValueError):
    """An option has a value that it cannot have."""


def _context(schema: Any, given: Any) -> Any:
    """A plain mapping becomes an instance of the graph's context schema, where that is a class."""
    if schema is None or not isinstance(given, dict) or hasattr(schema, "__total__"):
        return given
    return schema(**given)


# ----------------------------------------------------------------------------------------- streams
def _streamed(graph: CompiledGraph, order: Order) -> Iterator[Any]:
    stream = order.stream
    assert stream is not None
    if order.scope() is not None:
        yield from _inner(graph, order)
        return
    run = order.run(IN_PLACE)
    try:
        while _has_more(run):
            yield from stream.take()
        yield from stream.take()
    except GeneratorExit:
        stream.close()
        _run_out(run)
        raise
    except BaseException:
        yield from stream.take()
        raise
    finally:
        run.close()


def _inner(graph: CompiledGraph, order: Order) -> Iterator[Any]:
    """A child's stream inside of a node: it runs to its end first, as part of its thread."""
    output = graph.invoke(order.value, order.settings.config)
    yield output


def _has_more(run: Coroutine[Any, Any, Any]) -> bool:
    try:
        run.send(None)
    except StopIteration:
        return False
    return True


def _run_out(run: Coroutine[Any, Any, Any]) -> None:
    """Let a run whose reader has gone stop at its next boundary; what fails there is in the log."""
    try:
        drive(run)
    except Exception:  # noqa: BLE001
        return


async def _streamed_on_loop(graph: CompiledGraph, order: Order) -> AsyncIterator[Any]:
    import asyncio

    stream = order.stream
    assert stream is not None
    stream.on_loop()
    task = asyncio.ensure_future(order.run(ON_LOOP))
    task.add_done_callback(lambda _: stream.ring())
    try:
        while True:
            for chunk in await stream.some():
                yield chunk
            if task.done():
                for chunk in stream.take():
                    yield chunk
                break
        await task
    finally:
        stream.close()
        if not task.done():
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
