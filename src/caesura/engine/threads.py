"""What can be done with a graph's threads beside running them: look, change, answer, tidy up.

Promises: every method has an async twin that behaves the same. A thread is named by its name or by
a config. Mixed into `CompiledGraph`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from caesura.core.control import UNSET, StateSnapshot, StateUpdate
from caesura.core.events import Event
from caesura.engine.breakpoints import Breakpoints
from caesura.engine.performer import IN_PLACE, ON_LOOP, Performer, drive
from caesura.engine.settings import Settings, settings_of

if TYPE_CHECKING:
    from caesura.engine.ledger import Ledger

Thread = str | Mapping[str, Any]


class Threads:
    """The part of a compiled graph that is about its threads."""

    settings: dict[str, Any]

    # -------------------------------------------------------------------------------------- looking
    def get_state(self, thread: Thread, *, subgraphs: bool = False) -> StateSnapshot:
        """The thread as it is now, or at the step that a config names."""
        return drive(self._get_state(IN_PLACE, thread, subgraphs))

    async def aget_state(self, thread: Thread, *, subgraphs: bool = False) -> StateSnapshot:
        return await self._get_state(ON_LOOP, thread, subgraphs)

    def get_state_history(
        self,
        thread: Thread,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """Every step, newest first."""
        yield from drive(self._history(IN_PLACE, thread, filter, before, limit))

    async def aget_state_history(
        self,
        thread: Thread,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        for snapshot in await self._history(ON_LOOP, thread, filter, before, limit):
            yield snapshot

    # ------------------------------------------------------------------------------------- changing
    def update_state(
        self,
        thread: Thread,
        values: Any,
        as_node: str | None = None,
        task_id: str | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Change the state as if a node had written; the config of the step that this makes."""
        return drive(self._update(IN_PLACE, thread, [[StateUpdate(values, as_node, task_id)]], by))

    async def aupdate_state(
        self,
        thread: Thread,
        values: Any,
        as_node: str | None = None,
        task_id: str | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        return await self._update(ON_LOOP, thread, [[StateUpdate(values, as_node, task_id)]], by)

    def bulk_update_state(
        self, thread: Thread, supersteps: Sequence[Sequence[StateUpdate]], *, by: str | None = None
    ) -> dict[str, Any]:
        """Several updates, all or none: a list of supersteps, each a list of `StateUpdate`s."""
        return drive(self._update(IN_PLACE, thread, supersteps, by))

    async def abulk_update_state(
        self, thread: Thread, supersteps: Sequence[Sequence[StateUpdate]], *, by: str | None = None
    ) -> dict[str, Any]:
        return await self._update(ON_LOOP, thread, supersteps, by)

    # ------------------------------------------------------------------------------------ answering
    def answer(self, question_id: str, value: Any, *, by: str | None = None) -> None:
        """Record an answer from anywhere. Runs nothing: the next `invoke(None)` goes on with it."""
        drive(self._answer(IN_PLACE, question_id, value, by))

    async def aanswer(self, question_id: str, value: Any, *, by: str | None = None) -> None:
        await self._answer(ON_LOOP, question_id, value, by)

    def settle(
        self,
        thread: Thread,
        effect: str,
        *,
        result: Any = UNSET,
        repeat: bool = False,
        by: str | None = None,
    ) -> None:
        """Say what an effect gave that was performed and not recorded, or let it happen again."""
        drive(self._settle(IN_PLACE, thread, effect, result, repeat, by))

    async def asettle(
        self,
        thread: Thread,
        effect: str,
        *,
        result: Any = UNSET,
        repeat: bool = False,
        by: str | None = None,
    ) -> None:
        await self._settle(ON_LOOP, thread, effect, result, repeat, by)

    def breakpoints(self, thread: str) -> Breakpoints:
        """The breakpoints of one thread, to be added and removed."""
        return Breakpoints(self, settings_of(self.settings, thread).thread or "")  # type: ignore[arg-type]

    # ----------------------------------------------------------------------------------- tidying up
    def delete_thread(self, thread: Thread) -> bool:
        """Forget a thread with all that belongs to it; False when there was none."""
        return drive(self._delete(IN_PLACE, thread))

    async def adelete_thread(self, thread: Thread) -> bool:
        return await self._delete(ON_LOOP, thread)

    def copy_thread(self, source: Thread, target: str) -> dict[str, Any]:
        """Begin a new thread with the state of another; its questions are asked anew there."""
        return drive(self._copy(IN_PLACE, source, target))

    async def acopy_thread(self, source: Thread, target: str) -> dict[str, Any]:
        return await self._copy(ON_LOOP, source, target)

    def prune(
        self,
        thread: Thread | None = None,
        *,
        older_than: timedelta | float | None = None,
        keep_last: int | None = None,
    ) -> int:
        """Forget old steps: those older than a length of time, but never the last `keep_last`.

        Without a thread, those of every thread of this graph that nobody runs just then. The number
        of steps forgotten.
        """
        return drive(self._prune(IN_PLACE, thread, older_than, keep_last))

    async def aprune(
        self,
        thread: Thread | None = None,
        *,
        older_than: timedelta | float | None = None,
        keep_last: int | None = None,
    ) -> int:
        return await self._prune(ON_LOOP, thread, older_than, keep_last)

    def adopt(self, thread: Thread, *, by: str | None = None) -> None:
        """Hand a thread of another graph, or of other reducers, over to this graph."""
        drive(self._adopt(IN_PLACE, thread, by))

    async def aadopt(self, thread: Thread, *, by: str | None = None) -> None:
        await self._adopt(ON_LOOP, thread, by)

    # ------------------------------------------------------------------------------- how it is done
    def _named(self, thread: Thread) -> Settings:
        return settings_of(self.settings, thread)

    async def _get_state(
        self, performer: Performer, thread: Thread, subgraphs: bool
    ) -> StateSnapshot:
        from caesura.engine.looking import state

        named = self._named(thread)
        return await performer.store(lambda: state(self, named, subgraphs=subgraphs))

    async def _history(
        self, performer: Performer, thread: Thread, filter: Any, before: Any, limit: int | None
    ) -> list[StateSnapshot]:
        from caesura.engine.looking import history

        named = self._named(thread)
        return await performer.store(lambda: history(self, named, filter, before, limit))

    async def _update(
        self, performer: Performer, thread: Thread, supersteps: Any, by: str | None
    ) -> dict[str, Any]:
        from caesura.engine.changing import update_thread

        return await update_thread(self, performer, self._named(thread), supersteps, by)

    async def _answer(
        self, performer: Performer, question: str, value: Any, by: str | None
    ) -> None:
        from caesura.engine.changing import record_answer

        await performer.store(lambda: record_answer(self, question, value, by))

    async def _settle(
        self,
        performer: Performer,
        thread: Thread,
        effect: str,
        result: Any,
        repeat: bool,
        by: str | None,
    ) -> None:
        from caesura.engine.changing import settle_effect

        await settle_effect(self, performer, self._named(thread), effect, result, repeat, by)

    async def _delete(self, performer: Performer, thread: Thread) -> bool:
        from caesura.engine.tidying import delete

        named = self._named(thread)
        return await performer.store(lambda: delete(self, named))

    async def _copy(self, performer: Performer, source: Thread, target: str) -> dict[str, Any]:
        from caesura.engine.tidying import copy

        return await copy(self, performer, self._named(source), self._named(target))

    async def _prune(
        self, performer: Performer, thread: Thread | None, older_than: Any, keep_last: int | None
    ) -> int:
        from caesura.engine.pruning import prune

        named = None if thread is None else self._named(thread)
        return await prune(self, performer, named, older_than, keep_last)

    async def _adopt(self, performer: Performer, thread: Thread, by: str | None) -> None:
        from caesura.engine.tidying import adopt

        await adopt(self, performer, self._named(thread), by)

    async def append_beside(
        self, performer: Performer, thread: str, make: Callable[[Ledger], Sequence[Event]]
    ) -> None:
        """Write events that need no lease, on the thread as it is then."""
        from caesura.engine.changing import beside

        await performer.store(lambda: beside(self, thread, make))

    def ledger_of(self, thread: str) -> Ledger:
        from caesura.engine.looking import loaded

        return loaded(self, thread)
