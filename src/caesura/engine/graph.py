"""`StateGraph`: build a graph, then compile it.

Promises: the builder of `core`, with the one method that needs an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from caesura.core.graph import GraphBuilder
from caesura.engine.compiled import CompiledGraph
from caesura.errors import Unsupported

Names = Sequence[str] | Literal["*"]


class StateGraph(GraphBuilder):
    """A graph of functions that share a state."""

    def compile(
        self,
        checkpointer: Any = None,
        *,
        cache: Any = None,
        store: Any = None,
        interrupt_before: Names | None = None,
        interrupt_after: Names | None = None,
        debug: bool = False,
        name: str | None = None,
        transformers: Any = None,
        strict: bool = False,
        types: Iterable[Any] = (),
    ) -> CompiledGraph:
        """Validate the graph and make it runnable.

        `checkpointer` is the store that keeps its threads; True gives a subgraph a memory of its
        own, False none at all. `strict` refuses updates with keys that the state lacks. `types` are
        classes that may be written to the log beside those that the graph's annotations mention.
        `debug` looks after every node whether it has changed the state in place, which costs time.
        """
        for what, given in (("cache", cache), ("store", store), ("transformers", transformers)):
            if given is not None:
                raise Unsupported(
                    f"compile({what}=...) is out of scope. Leave it out; values that outlive a "
                    f"thread belong in your own database, results that must not be computed twice "
                    f"in once()."
                )
        types = tuple(types)
        plan = self.freeze(
            name=name or "graph",
            interrupt_before=interrupt_before,
            interrupt_after=interrupt_after,
            strict=strict,
            types=tuple(t[0] if isinstance(t, tuple) else t for t in types),
        )
        graph = CompiledGraph(plan, checkpointer, types=types)
        graph.debug = debug
        return graph
