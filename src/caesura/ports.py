"""The few protocols through which the engine touches the world.

Promises: everything that a run needs from outside is named here, so a test or another deployment
replaces it as a whole. Stores deal in encoded records and in plain columns; they never look inside.
Implemented by `stores`, `system` and `testing`; called by `engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct, field


# ------------------------------------------------------------------------------------ time, chance
class Clock(Protocol):
    """Where time comes from. All instants are integer microseconds since the epoch, UTC."""

    def now(self) -> int: ...
    def sleep(self, seconds: float) -> None: ...
    async def sleep_async(self, seconds: float) -> None: ...


class Ids(Protocol):
    """Where unguessable, unique identifiers and jitter come from."""

    def new(self) -> str:
        """A fresh identifier: lower-case hexadecimal, 32 characters."""
        ...

    def chance(self) -> float:
        """A number in [0, 1), for jitter."""
        ...


class Host(Protocol):
    """Who this process is, so that a lease of a dead process can be told from a live one."""

    def identity(self) -> str:
        """Boot, process namespace, process and its start time, in one line."""
        ...

    def is_alive(self, identity: str) -> bool | None:
        """Whether the process behind it lives; None when that cannot be known from here."""
        ...


class Waker(Protocol):
    """Liveness: somebody will look at this thread at that time, at least once."""

    def wake(self, thread: str, at: int) -> None: ...


# ------------------------------------------------------------------------------------------- rows
ThreadStatus = Literal["running", "waiting", "held", "done", "failed", "suspended", "cancelled"]
QuestionStatus = Literal["open", "answered", "withdrawn", "superseded", "expired"]


class ThreadRow(Struct, frozen=True):
    """The `threads` projection: what a list of threads shows without reading any log."""

    graph: str
    status: ThreadStatus
    updated_at: int
    due: int | None = None  # the earliest deadline of an open question


class QuestionRow(Struct, frozen=True):
    """The `interrupts` projection: one row per question, open or closed."""

    id: str
    status: QuestionStatus
    asked_at: int
    due: int | None
    body: bytes  # encoded question with its answer, for people and programs that list it
    columns: dict[str, Any] = field(default_factory=dict)  # further clear columns, by name


class RunRow(Struct, frozen=True):
    """The `runs` projection: one row per superstep task that ended, for analytics."""

    step: int
    index: int
    node: str
    started_at: int
    ended_at: int
    outcome: Literal["done", "failed"]


# ---------------------------------------------------------------------------------------- appends
class Take(Struct, frozen=True):
    """Take the thread's lease with this append.

    Refused with `LeaseHeld` while another owner holds an unexpired lease, unless that owner is
    `evict`, whom the caller knows to be dead.
    """

    owner: str
    ttl_us: int
    evict: str | None = None


class Release(Struct, frozen=True):
    """Give the lease back with this append."""


class Snapshot(NamedTuple):
    """An encoded view of a whole thread as of `seq`; `step` is the step counter then."""

    seq: int
    step: int
    body: bytes


class Append(Struct, frozen=True):
    """One transaction on one thread: `count` events in one body, following the head `after`.

    The new head is `after + count`. `count` may be 0 (with an empty body) when only the lease or a
    row changes; the head is still compared. `epoch` is the lease that it is written under; None
    for the events that need no lease.
    """

    thread: str
    after: int
    count: int
    body: bytes
    epoch: int | None = None
    lease: Take | Release | None = None
    row: ThreadRow | None = None
    questions: Sequence[QuestionRow] = ()
    runs: Sequence[RunRow] = ()
    snapshot: Snapshot | None = None
    durable: bool = True  # False: may be lost with the machine (never with the process)

    @property
    def head(self) -> int:
        return self.after + self.count

    @property
    def is_a_write(self) -> bool:
        """False when it only compares the head."""
        return bool(
            self.count
            or self.lease is not None
            or self.row is not None
            or self.questions
            or self.runs
            or self.snapshot is not None
        )


class Lease(NamedTuple):
    """Who may write a thread, under which epoch, until when (by the store's clock)."""

    owner: str | None
    epoch: int
    until: int


class LeaseHeld(Exception):
    """Raised by a store when `Take` meets a live lease. The engine turns it into `ThreadBusy`."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        super().__init__(f"held by {lease.owner} until {lease.until}")


class Record(NamedTuple):
    """One append as it was written: `seq` is that of its last event."""

    seq: int
    body: bytes


class Loaded(Struct, frozen=True):
    """A thread as the store has it: the latest snapshot and every record after it."""

    head: int
    lease: Lease
    row: ThreadRow
    snapshot: Snapshot | None
    records: Sequence[Record]


class StoredQuestion(NamedTuple):
    thread: str
    row: QuestionRow


class StoredThread(NamedTuple):
    thread: str
    row: ThreadRow
    head: int


class AppendSink(Protocol):
    """Receives the outcomes of appends given to `Store.append_soon`, a batch at a time.

    Called from the store's writer thread, or in place by a store that needs none; must not block.
    """

    def landed(self, outcomes: Sequence[tuple[Any, int | BaseException]]) -> None: ...


class Store(Protocol):
    """Keeps encoded records. Thread-safe, and safe between processes where the medium is."""

    clock: Clock
    ids: Ids
    host: Host
    max_bytes: int  # the largest record and the largest snapshot that it takes
    shared: bool  # whether other processes can reach it (leases then need a heartbeat)
    instant: bool  # whether an append returns at once, so that an event loop may call it in place

    def append(self, append: Append) -> int:
        """Commit it; return the epoch now in force.

        Raises `StaleHead` when `after` is not the head, `LeaseLost` when `epoch` is no longer in
        force, `LeaseHeld` when `Take` meets a live lease. All or nothing. Several threads that
        append at once share one transaction where that saves an fsync.
        """
        ...

    def append_soon(self, append: Append, tag: Any, sink: AppendSink) -> None:
        """Commit it from the store's writer thread; tell `sink` `(tag, epoch or error)`.

        In the order given, also with appends of `append` that follow. `StoreClosed` is raised here;
        every other error is the sink's.
        """
        ...

    def sync(self) -> None:
        """Make everything that was appended with `durable=False` survive the machine."""
        ...

    def load(self, thread: str) -> Loaded | None: ...
    def read(self, thread: str, after: int = 0, upto: int | None = None) -> Sequence[Record]:
        """Records that hold events with `after < seq <= upto`, in order (whole records)."""
        ...

    def snapshot_before(self, thread: str, *, step: int) -> Snapshot | None:
        """The latest snapshot whose `step` is at most the given one."""
        ...

    def head(self, thread: str) -> int:
        """The thread's head, 0 when there is none."""
        ...

    def renew(self, thread: str, epoch: int, ttl_us: int) -> bool:
        """Lengthen a lease; False when it is no longer ours (a lapsed one that nobody took is)."""
        ...

    def question(self, question_id: str) -> StoredQuestion | None: ...
    def questions(
        self,
        *,
        thread: str | None = None,
        status: QuestionStatus | None = None,
        due_before: int | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[StoredQuestion]:
        """Oldest first, by (asked_at, id); `after` is the pair of the last one seen.

        `due_before` keeps those whose deadline is at or before it.
        """
        ...

    def threads(
        self,
        *,
        status: ThreadStatus | None = None,
        graph: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[StoredThread]:
        """By name; `after` is the last name seen."""
        ...

    def next_due(self) -> int | None:
        """The earliest deadline of any open question."""
        ...

    def runs(self, thread: str) -> Sequence[RunRow]:
        """What ended on a thread, by (step, index); a task that ended again replaces its row."""
        ...

    def delete_thread(self, thread: str) -> bool:
        """Forget all of it; epochs go on counting, so whoever still holds it is refused."""
        ...

    def prune(self, thread: str, *, upto: int) -> None:
        """Forget the records at or below `upto` and the snapshots below it.

        Refused with `ValueError` unless a snapshot with seq >= upto stands for them.
        """
        ...

    def replace_rows(
        self,
        thread: str,
        *,
        expected_head: int,
        row: ThreadRow,
        questions: Sequence[QuestionRow],
        runs: Sequence[RunRow],
    ) -> None:
        """Put rebuilt projections in the place of what is there, if the head is still that one."""
        ...

    def close(self) -> None: ...
