"""What a thread is at one moment: the value that folding its log gives.

Promises: everything that running on needs, and nothing that could be worked out from it. A view is
also what a snapshot holds, so field order is the wire format here too.
Changed by `core.history` only; read by everyone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from caesura.core.parts import ErrorInfo, Part, Question, Target


class Recording(Part):
    """An effect in a task's journal."""

    VALUES = ("value",)
    name: str
    fingerprint: str
    use: int
    value: Any
    shown: str
    aside: bool = False
    error: ErrorInfo | None = None
    lost: str | None = None
    router: bool = False
    awaited: bool = False


class Asking(Part):
    """A question in a task's journal, with what became of it."""

    VALUES = ("question", "answer")
    question: Question
    status: str = "open"  # open, answered, withdrawn, superseded, expired
    answer: Any = None
    by: str | None = None
    at: int = 0


class JournalView(Part):
    """What one task has performed, asked and entered so far."""

    VALUES = ("recordings", "questions")
    recordings: list[Recording] = msgspec.field(default_factory=list)
    questions: list[Asking] = msgspec.field(default_factory=list)
    children: dict[str, int] = msgspec.field(default_factory=dict)  # call key -> run number


class TaskView(Part):
    """One task of the step at hand."""

    VALUES = ("arg", "writes", "goto", "commanded")
    node: str
    sent: bool = False
    arg: Any = None
    timeout: float | None = None
    origin: list[int] | None = None  # where its journal began, when not here
    writes: list[dict[str, Any]] | None = None  # None: not finished
    goto: list[Target] | None = None  # None: its conditional edges have yet to run
    error: ErrorInfo | None = None
    attempts: int = 0
    router_failed: bool = False
    handled: ErrorInfo | None = None  # it failed, and its error handler goes on
    failed: str | None = None  # for a handler: the node that failed,
    failure: ErrorInfo | None = None  # and with what
    commanded: list[Target] | None = (
        None  # where its `Command` goes, while its edges have yet to run
    )
    stale: bool = False  # carried over by an update: to be run on the new state, whatever it asks


class RunView(Part):
    """One graph at work on the thread."""

    VALUES = ("values", "tasks", "output", "command", "backlog")
    id: int
    graph: str
    parent: list[int] | None = None  # [step, index] of the task that called it
    key: str = ""
    space: str = ""
    keeps: bool = False
    step: int = -1  # ordinal of the step at hand; -1: not started
    count: int = -2  # LangGraph's metadata.step
    source: str = ""
    parent_step: int | None = None
    made_at: int = 0  # when the step at hand was made
    values: dict[str, Any] = msgspec.field(default_factory=dict)
    tasks: list[TaskView] = msgspec.field(default_factory=list)
    joins: dict[str, list[str]] = msgspec.field(default_factory=dict)
    deferred: list[str] = msgspec.field(default_factory=list)
    ran: list[str] = msgspec.field(default_factory=list)  # nodes of the superstep before
    held: str | None = None  # "before" | "after": a breakpoint holds this step
    passed: bool = False  # this step's breakpoints were passed
    before: list[str] = msgspec.field(default_factory=list)  # breakpoints given with the call
    after: list[str] = msgspec.field(default_factory=list)
    error: ErrorInfo | None = None  # the step itself failed
    finished: bool = False  # a child that returned
    output: Any = None
    command: Any = None
    backlog: list[list[dict[str, Any]]] | None = None  # writes that wait for the run's reducers
    follows: int | None = None  # the next step's parent, if it is not the step at hand; -1: none
    aside: bool = False  # called outside of its task's main strand
    router: bool = False


class ThreadView(Part):
    """A thread: its runs, the journals of what is unfinished, and what was asked of it."""

    VALUES = ("runs", "journals", "kept")
    birth: str = ""
    graph: str = ""
    reducers: dict[str, str] = msgspec.field(default_factory=dict)
    steps: int = 0  # ordinals given so far
    next_run: int = 0
    at: int = 0  # time of the last record
    runs: dict[int, RunView] = msgspec.field(default_factory=dict)
    journals: dict[str, JournalView] = msgspec.field(default_factory=dict)  # by "step.index"
    kept: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)  # memory of children
    questions: dict[str, str] = msgspec.field(default_factory=dict)  # id -> key of its journal
    requests: dict[str, str] = msgspec.field(default_factory=dict)  # request id -> digest
    before: list[str] = msgspec.field(default_factory=list)  # breakpoints of the thread
    after: list[str] = msgspec.field(default_factory=list)
    stop: str | None = None  # a request to stop that was not yet followed
    stopped: str | None = None  # "suspend" | "cancel", once followed
    stop_reason: str = ""
