"""What one caller asks for: an input, a thread, options; checked before anything happens.

Promises: an option that does not exist, or that has a value it cannot have, is refused by name.
Made by `engine.compiled` for every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from caesura.core.control import END
from caesura.engine.calling import run_call
from caesura.engine.calls import Call, Durability, OnBusy, Work
from caesura.engine.inputs import Wish
from caesura.engine.scopes import SCOPE, Scope
from caesura.engine.settings import Settings
from caesura.engine.stream import Stream
from caesura.errors import InvalidCall, UnknownNode, Unsupported, nearest

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.performer import Performer

Names = Sequence[str] | Literal["*"] | None

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
            known = sorted({*_OPTIONS, "thread"})
            hint = nearest(unknown[0], known, f"There are {', '.join(known)}.")
            if unknown[0] == "thread_id":
                hint = "Write thread='...'."
            raise TypeError(f"invoke() got an unexpected option {unknown[0]!r}. {hint}")
        _refuse_out_of_scope(options)
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
            raise InvalidCall(f"durability={self.durability!r}: use 'sync', 'async' or 'exit'.")
        if self.on_busy not in ("raise", "wait"):
            raise InvalidCall(f"on_busy={self.on_busy!r}: use 'raise' or 'wait'.")

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
            raise InvalidCall(
                f"Graph {graph.name!r} was compiled with checkpointer=True, which gives a "
                f"subgraph a memory within its parent's thread. To run it by itself, compile it "
                f"with a store."
            )
        thread = self.settings.thread
        if graph.store is None:
            thread = None
        elif thread is None:
            raise InvalidCall(
                f"Graph {graph.name!r} keeps its threads, so a call has to name one: "
                f"invoke(..., thread='order-7'), or "
                f"config={{'configurable': {{'thread_id': 'order-7'}}}}."
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


def _refuse_out_of_scope(options: dict[str, Any]) -> None:
    if options.get("version") not in (None, "v1"):
        raise Unsupported(
            f"version={options['version']!r} is out of scope: a call gives a mapping with "
            f"`.interrupts`, a stream plain chunks. Leave it out."
        )
    if options.get("print_mode"):
        raise Unsupported("print_mode is out of scope: print what stream(...) yields.")


def _context(schema: Any, given: Any) -> Any:
    """A plain mapping becomes an instance of the graph's context schema, where that is a class."""
    if schema is None or not isinstance(given, dict) or hasattr(schema, "__total__"):
        return given
    return schema(**given)
