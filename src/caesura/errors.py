"""Every error a user can meet, grouped by who must act on it.

Promises: a message says what happened, with which value, and what to do next; the values stay on
attributes. Does not promise: that an error ends a run. `Suspended` is not a failure and therefore
not an `Exception`.
Called by every layer; imports none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any


class CaesuraError(Exception):
    """The root of everything this library raises on purpose."""


class AuthoringError(CaesuraError):
    """The author of the graph must change something."""


class Conflict(CaesuraError):
    """Somebody was faster; the caller reads again and decides."""


class NotFound(CaesuraError):
    """The caller named something that is not there."""


class StoreTrouble(CaesuraError):
    """The operator must look at the store."""


class Defect(CaesuraError):
    """Our fault; please report it with the thread's exported history."""


def nearest(name: str, known: Collection[str], otherwise: str) -> str:
    """A hint for a mistyped name: the nearest known one, or `otherwise`."""
    near = get_close_matches(str(name), [str(k) for k in known], n=1)
    return f"Did you mean {near[0]!r}?" if near else otherwise


# ------------------------------------------------------------------------------- building a graph
class InvalidGraph(AuthoringError, ValueError):
    """The graph cannot be compiled, or was built from parts that do not fit."""


class UnknownNode(InvalidGraph):
    """An edge, a goto or a breakpoint names a node that was never added."""

    def __init__(
        self, name: str, *, where: str, known: Collection[str], verb: str = "leads to"
    ) -> None:
        self.name, self.where, self.known = name, where, tuple(known)
        hint = nearest(name, known, f"Add it with graph.add_node({name!r}, ...).")
        super().__init__(f"{where} {verb} {name!r}, which is no node. {hint}")


class Unsupported(AuthoringError, NotImplementedError):
    """A feature that is deliberately out of scope was asked for."""


class InvalidCall(AuthoringError, ValueError):
    """A call names no thread, or gives an option a value that it cannot have."""


# ---------------------------------------------------------------------------------- running nodes
class InvalidUpdateError(AuthoringError):
    """What a node returned cannot be applied to the state."""


class DroppedKeyWarning(UserWarning):
    """A node wrote a key that the state does not have. Said once per key and graph."""


class EmptyInputError(AuthoringError):
    """`None` was given to a thread that has nothing to go on with."""


class GraphRecursionError(AuthoringError, RecursionError):
    """The run took more supersteps than its recursion limit allows."""


class NodeTimeoutError(CaesuraError, TimeoutError):
    """One attempt of a node took longer than its timeout policy allows."""


class NodeCancelled(AuthoringError, RuntimeError):
    """A node was cancelled by its own code, not by whoever called the graph."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"Node {node!r} was cancelled by its own code: it raised CancelledError, or awaited "
            f"something that was cancelled, while nobody cancelled the call. Catch it in the node "
            f"where something was cancelled on purpose."
        )


class OutsideANode(AuthoringError, RuntimeError):
    """`interrupt`, `once` or a getter was called where no node is running."""


class NeedsCheckpointer(AuthoringError, RuntimeError, ValueError):
    """Something that must survive was asked of a graph without a checkpointer."""


class EffectChanged(AuthoringError):
    """A node was replayed and asks for another effect than the one already performed."""

    def __init__(self, name: str, *, recorded: str, asked: str) -> None:
        self.name, self.recorded, self.asked = name, recorded, asked
        super().__init__(
            f"once({name}) was performed with {recorded} and is now asked for with {asked}. "
            f"Compute what differs inside once(...), or pass key='...' to say that both are the "
            f"same effect."
        )


class UnstableQuestion(AuthoringError):
    """A question's payload is another one on every pass, so no answer can ever fit it."""

    def __init__(self, where: str, *, before: Any, after: Any) -> None:
        self.where, self.before, self.after = where, before, after
        super().__init__(
            f"The question at {where} changes on every pass: it was {before!r}, now it is "
            f"{after!r}. Compute its payload inside once(...), or give the question a key and "
            f"volatile=True."
        )


class UnserializableValue(AuthoringError, TypeError):
    """A value cannot be written to the log."""

    def __init__(self, path: str, value: Any, remedy: str | None = None) -> None:
        self.path, self.type_name = path, _type_name(type(value))
        super().__init__(
            f"{path} holds a {self.type_name}, which cannot be written to the log. "
            + (remedy or "Store plain data, or register the type with compile(types=[...]).")
        )


class PerformedUnrecorded(CaesuraError):
    """An effect happened, its result could not be written; nothing repeats it until told to."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(
            f"once({name}) was performed, but its result could not be recorded: {reason} It will "
            f"not be repeated by itself. Give its result with graph.settle(thread, {name!r}, "
            f"result=...), or allow it again with graph.settle(thread, {name!r}, repeat=True)."
        )


class JournalSealed(AuthoringError, RuntimeError):
    """Code that outlived its node tried to record something."""


class RecordedError(CaesuraError):
    """A failure read back from the log whose own type cannot be rebuilt."""

    def __init__(self, type_name: str, message: str, traceback: str = "") -> None:
        self.type_name, self.message, self.traceback = type_name, message, traceback
        super().__init__(f"{type_name}: {message}")


class ParentCommand(CaesuraError):
    """A `Command(graph=Command.PARENT)` reached the outermost graph; it is `args[0]`."""

    def __str__(self) -> str:
        return (
            f"A node returned {self.args[0]!r} for the graph around its own, and there is none. "
            f"Run this graph as a node of another one, or leave graph=Command.PARENT out."
        )


class GraphDrained(CaesuraError):
    """The run stopped at a step boundary because it was asked to; the thread goes on later."""


class Suspended(BaseException):
    """A node waits for a person. Not an `Exception`: `except Exception` must not eat a pause."""


# --------------------------------------------------------------------------------------- threads
class ThreadBusy(Conflict):
    """Another run holds the thread."""

    def __init__(self, thread: str, owner: str) -> None:
        self.thread, self.owner = thread, owner
        super().__init__(
            f"Thread {thread!r} is being run by {owner}. Try again when it is done, or call with "
            f"on_busy='wait'."
        )


class StaleHead(Conflict):
    """An append did not follow the head of its log."""

    def __init__(self, thread: str, *, expected: int, head: int) -> None:
        self.thread, self.expected, self.head = thread, expected, head
        super().__init__(
            f"Thread {thread!r} is at {head}, not at {expected}: somebody else wrote. Read it "
            f"again."
        )


class LeaseLost(Conflict):
    """This run no longer holds its thread, so what it wanted to write was refused.

    Another run took it over (`current` is its epoch, None where that is not known), or
    (`epoch` is None) this one had given it back.
    """

    def __init__(self, thread: str, *, epoch: int | None, current: int | None) -> None:
        self.thread, self.epoch, self.current = thread, epoch, current
        if epoch is None:
            text = (
                f"This run of thread {thread!r} has ended and given the thread back, and code "
                f"that it left behind goes on. What that wanted to write was refused. Await or "
                f"join everything that a node starts."
            )
        else:
            theirs = "" if current is None else f"epoch {current}, "
            text = (
                f"Another process has taken over thread {thread!r} ({theirs}ours was {epoch}). "
                f"Nothing of this run was written after that."
            )
        super().__init__(text)


class GraphMismatch(Conflict):
    """The thread belongs to another graph."""

    def __init__(self, thread: str, *, recorded: str, given: str) -> None:
        self.thread, self.recorded, self.given = thread, recorded, given
        super().__init__(
            f"Thread {thread!r} was started by graph {recorded!r}, not by {given!r}. Use that "
            f"graph, another thread, or graph.adopt({thread!r}) to hand the thread over on purpose."
        )


class SchemaChanged(Conflict):
    """Recorded deltas were written under another reducer."""

    def __init__(self, thread: str, changed: Mapping[str, tuple[str, str]]) -> None:
        self.thread, self.changed = thread, dict(changed)
        shown = ", ".join(f"{key!r} ({old} -> {new})" for key, (old, new) in changed.items())
        super().__init__(
            f"Thread {thread!r} holds deltas written under other reducers: {shown}. Restore them, "
            f"or call graph.adopt({thread!r}) to read the thread with today's reducers from now on."
        )


class NodeVanished(Conflict):
    """A thread waits in a node that the graph no longer has."""

    def __init__(self, thread: str, node: str, known: Collection[str]) -> None:
        self.thread, self.node, self.known = thread, node, tuple(known)
        hint = nearest(node, known, "")
        super().__init__(
            f"Thread {thread!r} waits in node {node!r}, which this graph no longer has. "
            f"{hint}{' ' if hint else ''}Put the node back under its old name, or move the thread "
            f"on with graph.update_state(thread, None, as_node=...)."
        )


class RequestMismatch(Conflict):
    """A request id was used again with another input."""

    def __init__(self, thread: str, request_id: str) -> None:
        self.thread, self.request_id = thread, request_id
        super().__init__(
            f"Request {request_id!r} was already used on thread {thread!r} with another input. "
            f"Use a new request_id for a new request."
        )


class UnknownThread(NotFound):
    """No thread of that name is in the store."""

    def __init__(self, thread: str) -> None:
        self.thread = thread
        super().__init__(f"There is no thread {thread!r} in this store. Start it with an input.")


class UnknownStep(NotFound):
    """A config names a step that the thread does not have."""

    def __init__(self, thread: str, step: str) -> None:
        self.thread, self.step = thread, step
        super().__init__(
            f"Thread {thread!r} has no step {step!r}. List them with graph.get_state_history(...)."
        )


# ------------------------------------------------------------------------------------- questions
class InvalidAnswer(AuthoringError, ValueError):
    """An answer does not fit its question; the question stays open."""

    def __init__(self, question: str, problems: Sequence[str]) -> None:
        self.question, self.problems = question, tuple(problems)
        super().__init__(
            f"The answer to question {question} was not taken; the question stays open. "
            + " ".join(f"{p}." for p in problems)
        )


class AmbiguousAnswer(AuthoringError, RuntimeError):
    """It cannot be told which question the answer is for."""


class UnknownQuestion(NotFound):
    """An answer names a question that was never asked on this thread."""

    def __init__(self, ids: Sequence[str], *, open_ids: Sequence[str], reason: str) -> None:
        self.interrupt_ids, self.pending_ids, self.reason = list(ids), list(open_ids), reason
        super().__init__(reason)


class QuestionClosed(Conflict):
    """The question is no longer open."""

    def __init__(self, question: str, status: str, by: str | None, at: str | None) -> None:
        self.question, self.status, self.by, self.at = question, status, by, at
        who = f" by {by}" if by else ""
        when = f" at {at}" if at else ""
        super().__init__(
            f"Question {question} is already {status}{who}{when}. Look at the thread's open "
            f"questions and answer one of those."
        )


class AlreadyAnswered(QuestionClosed):
    """Somebody answered before."""


class QuestionExpired(Conflict):
    """The question's deadline passed before anybody answered."""

    def __init__(self, question: str, deadline: str) -> None:
        self.question, self.deadline = question, deadline
        super().__init__(f"Nobody answered question {question} before {deadline}.")


# ----------------------------------------------------------------------------------------- stores
class StoreClosed(StoreTrouble):
    """The store was closed, or was opened before a fork of the process."""


class RecordTooLarge(StoreTrouble, ValueError):
    """A payload or a state is larger than the store was told to take."""

    def __init__(self, what: str, *, size: int, limit: int) -> None:
        self.what, self.size, self.limit = what, size, limit
        super().__init__(
            f"{what} takes {size:,} bytes, the limit is {limit:,}. Keep large data outside of the "
            f"state and store a reference, or open the store with a higher max_bytes."
        )


class UnknownFormat(StoreTrouble):
    """The log was written by a newer version."""

    def __init__(self, found: int, known: int) -> None:
        self.found, self.known = found, known
        super().__init__(
            f"This log was written in format {found}; this version reads up to {known}. Upgrade "
            f"caesura here, or go on with the version that wrote it. Nothing was changed."
        )


class UnknownEvent(UnknownFormat):
    """The log holds a kind of event that only a newer version knows."""

    def __init__(self, tag: int, known: int) -> None:
        super().__init__(known, known)
        self.tag = tag
        message = (
            f"This log holds an event of kind {tag}, which this version (format {known}) does not "
            f"know: a newer one wrote it. Upgrade caesura here, or go on with the version that "
            f"wrote it. Nothing was changed."
        )
        self.args = (message,)


class StoreUnavailable(StoreTrouble):
    """The file or service behind a store does not do its part: full, missing, locked, foreign."""


class StoreMisconfigured(AuthoringError, ValueError):
    """A store was given options that it cannot work with."""


class MissingExtra(AuthoringError, ImportError):
    """A part of the library needs a package that is not installed."""

    def __init__(self, what: str, *, extra: str, package: str) -> None:
        self.what, self.extra, self.package = what, extra, package
        super().__init__(
            f"{what} needs the package {package!r}, which is not installed. Install it with: "
            f"pip install 'caesura[{extra}]'"
        )


class CorruptRecord(StoreTrouble):
    """A record cannot be read: damaged, or encrypted with a key that is not given."""


def _type_name(cls: type) -> str:
    is_builtin = cls.__module__ == "builtins"
    return cls.__qualname__ if is_builtin else f"{cls.__module__}.{cls.__qualname__}"
