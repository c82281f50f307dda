"""What a thread's log is made of.

Promises: an event says what was decided, so that reading it needs the graph's reducers and nothing
else: no edges, no clock, no chance. Field order is the wire format: append fields with a default,
never reorder or reuse a tag. Whatever an event cannot say in this version gets a new tag.
Written by `engine.ledger` only; read by `core.history` only.

Identity: a *step* is one planning of tasks. Its ordinal is not written: it is the count of step
events before it in the log. A task is (ordinal of its step, index). A *run* is one graph at work on
the thread: 0 is the thread's own graph, the others are child graphs, numbered as they were entered.
"""

from __future__ import annotations

from typing import Any, Literal

from caesura.core.parts import ErrorInfo, Part, Planned, Question, Target
from caesura.core.view import ThreadView

FORMAT = 1


class Event(Part):
    """One thing that happened. Subclasses are the vocabulary."""


class Opened(Event, tag=1):
    """The thread belongs to this graph from here on; its reducers are these."""

    birth: str  # unguessable: two threads of one name never share idempotency keys
    graph: str
    reducers: dict[str, str]
    by: str | None = None  # who handed the thread over to this graph


class Started(Event, tag=2):
    """A run was given an input. Makes two steps: the input's own, and the first to be run.

    `next` None: conditional edges choose the first nodes, so only the input's step is made, and
    `START` is its task.
    """

    VALUES = ("writes", "next")
    run: int
    writes: list[dict[str, Any]]
    next: list[Planned] | None
    joins: dict[str, list[str]] | None = None
    deferred: list[str] | None = None
    request: str | None = None
    request_digest: str | None = None
    breakpoints: list[Any] | None = (
        None  # [before, after] of this call; each a list of names or "*"
    )
    brief: bool = False  # durability='exit': the input's own step is not shown


class Stepped(Event, tag=3):
    """A superstep is over; these tasks are next. `writes`: of its only task, recorded here."""

    VALUES = ("writes", "next")
    run: int
    next: list[Planned]
    writes: list[dict[str, Any]] | None = None
    joins: dict[str, list[str]] | None = None
    deferred: list[str] | None = None


class Done(Event, tag=4):
    """A task finished. `goto` None: its conditional edges have yet to run."""

    VALUES = ("writes", "goto", "commanded")
    step: int
    index: int
    writes: list[dict[str, Any]]
    goto: list[Target] | None
    handled: ErrorInfo | None = None  # it failed, and its error handler goes on
    commanded: list[Target] | None = (
        None  # where its `Command` goes, while the edges have yet to run
    )


class Leapt(Event, tag=5):
    """Several finished supersteps in one entry (durability='exit'): what changed, as it ended."""

    VALUES = ("changed", "next")
    run: int
    steps: int  # how many, and how many ordinals they took
    changed: dict[str, Any]
    next: list[Planned]
    ran: list[str]
    alone: bool = False  # the step before it was made by the same call, and is not shown
    joins: dict[str, list[str]] | None = None
    deferred: list[str] | None = None


class Entered(Event, tag=6):
    """A task called a child graph for the nth time under this name; it is run number (implicit)."""

    step: int
    index: int
    key: str
    graph: str
    space: str  # the path of names under which a `checkpointer=True` child keeps its memory
    keeps: bool = False
    aside: bool = False  # called outside of the task's main strand
    router: bool = False  # called by the task's conditional edges


class Left(Event, tag=7):
    """A child graph finished; its output is recorded so that a later pass gets it back."""

    VALUES = ("output", "command")
    run: int
    output: Any
    command: Any = None


class Recorded(Event, tag=8):
    """An effect was performed, or failed for good."""

    VALUES = ("value",)
    step: int
    index: int
    name: str
    fingerprint: str
    use: int
    value: Any
    shown: str = ""  # the arguments, shortened, for people
    aside: bool = False  # begun outside of the task's main strand
    error: ErrorInfo | None = None
    lost: str | None = None  # performed, but the result could not be written: why
    router: bool = False
    awaited: bool = False  # a sync function gave something to wait for: replay does so too


class Settled(Event, tag=9):
    """A person gave the result of a lost effect, or allowed it again."""

    VALUES = ("value",)
    step: int
    index: int
    name: str
    repeat: bool
    value: Any = None
    by: str | None = None


class Asked(Event, tag=10):
    """A task waits for an answer."""

    VALUES = ("question",)
    step: int
    index: int
    question: Question
    replaces: str | None = None


class Answered(Event, tag=11):
    """Somebody answered. Commutes with what a runner writes."""

    VALUES = ("value",)
    question: str
    value: Any
    by: str | None = None


class Withdrawn(Event, tag=12):
    """A question will not be answered any more. Commutes."""

    question: str
    why: str
    by: str | None = None


class Expired(Event, tag=13):
    """Its deadline passed; the default is the answer, or the task gets `QuestionExpired`."""

    question: str


class Failed(Event, tag=14):
    """A task failed after its retries. index -1: the step itself (its writes cannot be applied)."""

    step: int
    index: int
    error: ErrorInfo
    attempts: int = 1
    router: bool = False


class Retried(Event, tag=15):
    """Failed tasks are tried again; recorded failures of their effects are forgotten."""

    by: str | None = None
    task: list[int] | None = None  # [step, index] of the one task; None: the whole thread


class Updated(Event, tag=16):
    """Somebody changed the state, as these nodes; makes a step.

    A `source` of "command" is an update that came with the call that goes on: it changes the step
    at hand, and `next` are the tasks that it adds.
    """

    VALUES = ("writes", "next", "ran")
    run: int
    writes: list[dict[str, Any]]
    next: list[Planned]
    ran: list[Any]  # [node, its writes, index of the task at hand that it was or None]
    joins: dict[str, list[str]] | None = None
    deferred: list[str] | None = None
    source: str = "update"
    by: str | None = None


class Rewound(Event, tag=17):
    """The thread went back to an earlier step, or came from another thread. Makes a step.

    `state` is the whole view as of then, so that folding never needs to look back. The step of an
    "update" is not shown: an update or an input follows it. Going back to a child's step makes one
    step more for each run around it.
    """

    VALUES = ("state",)
    to_step: int
    kind: Literal["replay", "copy", "update"]
    state: ThreadView
    run: int = 0
    origin: str | None = None  # the thread it was forked from


class Held(Event, tag=18):
    """A breakpoint holds the step that was planned."""

    run: int
    where: Literal["before", "after"]
    nodes: list[str]


class WentOn(Event, tag=19):
    """What a breakpoint held goes on."""

    run: int


class BreakpointsSet(Event, tag=20):
    """Breakpoints of a call (until its run finishes) or of a thread (until removed). Commutes."""

    scope: Literal["run", "thread"]
    before: list[str]
    after: list[str]


class StopRequested(Event, tag=21):
    """Stop at the next boundary: for good (cancel), or until resumed. Commutes."""

    kind: Literal["suspend", "cancel"]
    reason: str = ""
    by: str | None = None


class Stopped(Event, tag=22):
    """The runner followed a request to stop."""

    kind: Literal["suspend", "cancel"]


class Pruned(Event, tag=23):
    """What lay at or below `upto` was forgotten; a snapshot stands for it."""

    upto: int


class Given(Event, tag=24):
    """A `resume` that met no question: recorded, given to nobody."""

    VALUES = ("value",)
    value: Any
    by: str | None = None


class Reread(Event, tag=25):
    """A task that an update carried over has run on the new state and still waits as it did."""

    step: int
    index: int


AnyEvent = (
    Opened
    | Started
    | Stepped
    | Done
    | Leapt
    | Entered
    | Left
    | Recorded
    | Settled
    | Asked
    | Answered
    | Withdrawn
    | Expired
    | Failed
    | Retried
    | Updated
    | Rewound
    | Held
    | WentOn
    | BreakpointsSet
    | StopRequested
    | Stopped
    | Pruned
    | Given
    | Reread
)

# Events that may be appended without the lease: they commute with all that a runner writes.
COMMUTING: tuple[type[Event], ...] = (Answered, Withdrawn, Expired, BreakpointsSet, StopRequested)
