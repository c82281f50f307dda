"""The breakpoints of one thread: they last until they are removed.

Promises: they may be changed while the thread runs or waits; a run follows them from its next
boundary on. Made by `CompiledGraph.breakpoints`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesura.core.events import BreakpointsSet
from caesura.engine.performer import IN_PLACE, ON_LOOP, Performer, drive
from caesura.errors import UnknownNode

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger


class Breakpoints:
    """Names of nodes, or "*" for all of them, before or after which a thread is held."""

    def __init__(self, graph: CompiledGraph, thread: str) -> None:
        self._graph, self._thread = graph, thread

    @property
    def before(self) -> tuple[str, ...]:
        return tuple(self._graph.ledger_of(self._thread).view.before)

    @property
    def after(self) -> tuple[str, ...]:
        return tuple(self._graph.ledger_of(self._thread).view.after)

    def add(self, *names: str, after: bool = False) -> None:
        """Hold the thread before these nodes, or after them."""
        drive(self._change(IN_PLACE, names, after, add=True))

    async def aadd(self, *names: str, after: bool = False) -> None:
        await self._change(ON_LOOP, names, after, add=True)

    def remove(self, *names: str, after: bool = False) -> None:
        """Hold it there no longer; what is held now goes on with `invoke(None)`."""
        drive(self._change(IN_PLACE, names, after, add=False))

    async def aremove(self, *names: str, after: bool = False) -> None:
        await self._change(ON_LOOP, names, after, add=False)

    def clear(self) -> None:
        """Remove all of them."""
        drive(self._graph.append_beside(IN_PLACE, self._thread, self._none))

    async def aclear(self) -> None:
        await self._graph.append_beside(ON_LOOP, self._thread, self._none)

    async def _change(
        self, performer: Performer, names: tuple[str, ...], after: bool, *, add: bool
    ) -> None:
        for name in names:
            self._check(name)

        def events(ledger: Ledger) -> list[BreakpointsSet]:
            sets = {False: list(ledger.view.before), True: list(ledger.view.after)}
            kept = [name for name in sets[after] if name not in names]
            sets[after] = [*kept, *names] if add else kept
            return [BreakpointsSet("thread", sets[False], sets[True])]

        await self._graph.append_beside(performer, self._thread, events)

    def _check(self, name: str) -> None:
        nodes = self._graph.plan.nodes
        if name != "*" and name not in nodes:
            raise UnknownNode(name, where="A breakpoint", known=tuple(nodes), verb="names")

    @staticmethod
    def _none(ledger: Ledger) -> list[BreakpointsSet]:
        return [BreakpointsSet("thread", [], [])]
