"""What a run tells the reader of its stream, and how the two keep step.

Promises: a chunk is given away only after what it tells is written; a reader who takes his time
holds the run at its next boundary, one who goes away stops it there.
Filled by `engine.chunks` and by writers of nodes; read by the facade's `stream` and `astream`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from caesura.engine.performer import Handover
from caesura.errors import InvalidCall, nearest

if TYPE_CHECKING:
    import asyncio

    from caesura.engine.crowds import Crowd

MODES = ("values", "updates", "custom", "messages", "tasks", "checkpoints", "debug")


def checked_modes(given: str | Sequence[str]) -> tuple[str, ...]:
    modes = (given,) if isinstance(given, str) else tuple(given)
    for mode in modes:
        if mode not in MODES:
            hint = nearest(mode, MODES, f"There are {', '.join(MODES)}.")
            raise InvalidCall(f"stream_mode={mode!r} does not exist. {hint}")
    return modes


class Stream:
    """A buffer between a run and its reader."""

    def __init__(
        self,
        modes: str | Sequence[str],
        *,
        subgraphs: bool = False,
        output_keys: Any = None,
    ) -> None:
        self.modes = frozenset(checked_modes(modes))
        self.has_many = not isinstance(modes, str)
        self.subgraphs, self.output_keys = subgraphs, output_keys
        self.is_closed = False
        self.has_reader = True  # False: the chunks are collected until the run is over
        self.crowd: Crowd | None = None  # the running tasks, which a chunk from among them wakes
        self._chunks: deque[Any] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None

    def wants(self, mode: str, namespace: tuple[str, ...]) -> bool:
        return mode in self.modes and (self.subgraphs or not namespace)

    @property
    def is_live(self) -> bool:
        """Whether chunks may come from the middle of a node."""
        return self.subgraphs or "custom" in self.modes or "messages" in self.modes

    def put(self, namespace: tuple[str, ...], mode: str, data: Any) -> None:
        if not self.wants(mode, namespace) or self.is_closed:
            return
        parts: tuple[Any, ...] = (data,)
        if self.has_many:
            parts = (mode, *parts)
        if self.subgraphs:
            parts = (namespace, *parts)
        self._chunks.append(parts if len(parts) > 1 else data)
        if self.crowd is not None:
            self.crowd.wake()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.set)

    def take(self) -> list[Any]:
        """Everything that has come."""
        taken = []
        while self._chunks:
            taken.append(self._chunks.popleft())
        return taken

    # ------------------------------------------------------------------------------- keeping step
    def on_loop(self) -> None:
        """The reader and the run are tasks of this loop."""
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._news, self._taken = asyncio.Event(), asyncio.Event()

    async def hand_over(self) -> None:
        """Let the reader take what has come, if there is any."""
        if not self._chunks or self.is_closed or not self.has_reader:
            return
        if self._loop is None:
            await Handover()
            return
        self._taken.clear()
        self._news.set()
        await self._taken.wait()

    async def some(self) -> list[Any]:
        """For the reader: wait for chunks, take them, and let the run go on."""
        await self._news.wait()
        self._news.clear()
        taken = self.take()
        self._taken.set()
        return taken

    def ring(self) -> None:
        """The run is over: there will be no more."""
        self._news.set()

    def close(self) -> None:
        """The reader goes away."""
        self.is_closed = True
        self._chunks.clear()
        if self._loop is not None:
            self._taken.set()


Writer = Callable[[Any], None]
