"""One pass through a task's code: what it performs, what it asks, and what it got before.

Promises: a recorded effect or a given answer comes back to the call it belongs to, whatever order
concurrent calls run in; once a pass has asked, nothing new begins; what had begun is finished and
recorded before the pass ends; after that nothing can be recorded any more. Whether a pass waits is
known from here, never from the exception that came out of the code.
Does not promise: that code which swallowed a pause stops; its result is thrown away.
Made by `engine.tasks` for each attempt; used through `engine.effects` and `engine.interrupts`.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.events import Asked, Recorded, Withdrawn
from caesura.core.parts import Question
from caesura.core.view import Asking, JournalView, Recording
from caesura.engine.failures import describe
from caesura.errors import (
    EffectChanged,
    JournalSealed,
    NeedsCheckpointer,
    OutsideANode,
    PerformedUnrecorded,
    RecordTooLarge,
    Suspended,
    UnserializableValue,
    UnstableQuestion,
)

if TYPE_CHECKING:
    from caesura.core.view import RunView
    from caesura.engine.calls import Work

SCOPE: ContextVar[Scope] = ContextVar("caesura.scope")

MOST_CHANGES = 2


def current_scope(what: str) -> Scope:
    """The pass that is running here, or an error that says why there is none."""
    scope = SCOPE.get(None)
    if scope is None:
        raise OutsideANode(
            f"{what} was called where no node is running. Inside a thread that your node started, "
            f"run the code in the node's context: contextvars.copy_context().run(f, ...), or use "
            f"asyncio.to_thread or once.thread, which do."
        )
    return scope


class _Called(NamedTuple):
    """A graph that an earlier pass called."""

    key: str
    run: int
    aside: bool


class _Notes:
    """What one pass compares its code with, and what it has met of it."""

    __slots__ = (
        "asked",
        "called",
        "effects",
        "keys",
        "matched",
        "questions",
        "records",
        "tasks",
        "unmatched",
        "uses",
    )

    def __init__(
        self, journal: JournalView | None, runs: dict[int, RunView], *, router: bool
    ) -> None:
        self.effects: set[Any] = set()  # asyncio tasks of effects that have begun
        self.tasks: set[Any] = set()  # those of them in which graphs run that were called
        self.uses: dict[tuple[str, str], int] = {}
        self.called: dict[str, list[_Called]] = {}  # by graph; those not called yet in this pass
        self.keys: set[str] = set()
        self.records: dict[tuple[str, str], list[Recording]] = {}
        self.unmatched: dict[str, list[Recording]] = {}
        self.questions: list[Asking] = []
        self.matched: set[str] = set()
        self.asked: list[Asked] = []
        if journal is None:
            return
        for record in journal.recordings:
            if record.router == router:
                self.records.setdefault((record.name, record.fingerprint), []).append(record)
                self.unmatched.setdefault(record.name, []).append(record)
        self.questions = [q for q in journal.questions if q.question.router == router]
        self.keys.update(journal.children)
        for key, run_id in journal.children.items():
            run = runs.get(run_id)
            if run is not None and run.router == router:
                self.called.setdefault(run.graph, []).append(_Called(key, run_id, run.aside))


class Scope:
    """The journal of one task, opened for one pass through its node or its conditional edges."""

    def __init__(
        self,
        work: Work,
        *,
        node: str,
        step: int,
        index: int,
        key: str,
        journal: JournalView | None,
        attempt: int = 1,
        router: bool = False,
        first_at: int = 0,
    ) -> None:
        self.work, self.node, self.step, self.index, self.key = work, node, step, index, key
        self.attempt, self.router, self.first_at = attempt, router, first_at
        self.failure: BaseException | None = None  # latched: the pass ends in it, eaten or not
        self.waits = False  # something in this pass waits for a person
        self.sealed = False
        self.thread = threading.get_ident()
        self.task: Any = None  # the asyncio task of an async node
        self.beat: Any = None  # tells an idle timeout that the node is alive
        self._lock = threading.Lock()
        self._quiet: threading.Condition | None = None  # made when somebody has to wait for it
        self._running = 0  # effects that have begun, also those of graphs that are called here
        self._calls = 0  # graphs that are called and still run
        self._is_left = False  # the run is over before the pass: no more is waited for than must be
        self._journal = journal
        self._notes: _Notes | None = None

    @property
    def origin(self) -> tuple[int, int]:
        """The step and the place under which the journal is kept."""
        step, _, index = self.key.partition(".")
        return int(step), int(index)

    @property
    def _pass(self) -> _Notes:
        """What this pass has met so far; most passes meet nothing. Called under the lock."""
        if self._notes is None:
            runs = self.work.call.ledger.view.runs
            self._notes = _Notes(self._journal, runs, router=self.router)
        return self._notes

    # -------------------------------------------------------------------------------------- strands
    def is_main_strand(self) -> bool:
        """Whether this code runs where the node itself runs, in its order, and not beside it."""
        task = None
        if "asyncio" in sys.modules:
            import asyncio

            if asyncio._get_running_loop() is not None:
                task = asyncio.current_task()
        if self.task is not None:
            return task is self.task
        return task is None and threading.get_ident() == self.thread

    def _suspend(self) -> Suspended:
        self.waits = True
        return Suspended()

    def _check_open(self) -> None:
        if self.sealed:
            raise JournalSealed(
                f"Node {self.node!r} has ended, and code that it left behind wants to record "
                f"something. Await or join everything that the node starts."
            )

    # -------------------------------------------------------------------------------------- effects
    def begin(self, name: str, fingerprint: str, shown: str, *, aside: bool) -> Recording | int:
        """The record of this effect, or (it begins now) the number of its use."""
        with self._lock:
            self._check_open()
            if self.waits:
                raise self._suspend()
            if self.failure is not None:
                raise self.failure
            use = self._pass.uses.get((name, fingerprint), 0)
            self._pass.uses[name, fingerprint] = use + 1
            for record in self._pass.records.get((name, fingerprint), ()):
                if record.use == use:
                    self._pass.unmatched[name].remove(record)
                    if record.lost is not None:
                        self.failure = PerformedUnrecorded(name, record.lost)
                        raise self.failure
                    return record
            if not aside:
                for record in self._pass.unmatched.get(name, ()):
                    if not record.aside and record.fingerprint != fingerprint:
                        raise EffectChanged(name, recorded=record.shown, asked=shown)
            self.work.call.ledger.begins("performs", name, shown)
            self._begin_around()
            self._running += 1
            return use

    def _begin_around(self) -> None:
        """The passes around this graph wait for its effects as for their own."""
        begun: list[Scope] = []
        scope = self.work.caller
        try:
            while scope is not None:
                with scope._lock:
                    if scope._is_left and scope.failure is not None:
                        raise scope.failure
                    scope._check_open()
                    scope._running += 1
                begun.append(scope)
                scope = scope.work.caller
        except BaseException:
            for scope in begun:
                scope._end_one()
            raise

    def unclaimed(self) -> list[Recording]:
        """Recorded effects that this pass has not asked for."""
        with self._lock:
            return [record for records in self._pass.unmatched.values() for record in records]

    def record(self, effect: Recorded) -> None:
        """Write down what an effect gave. What cannot be written is written down as lost."""
        ledger = self.work.call.ledger
        with self._lock:
            self._check_open()
        try:
            ledger.stage(effect)
        except (UnserializableValue, RecordTooLarge) as error:
            lost = PerformedUnrecorded(effect.name, str(error))
            effect.value, effect.lost = None, str(error)
            ledger.stage(effect)
            self.failure = lost
            raise lost from error

    def end(self) -> None:
        """An effect that began is over, recorded or not."""
        scope: Scope | None = self
        while scope is not None:
            scope._end_one()
            scope = scope.work.caller

    def _end_one(self) -> None:
        with self._lock:
            self._running -= 1
            if self._quiet is not None:
                self._quiet.notify_all()

    def made(
        self,
        name: str,
        fingerprint: str,
        use: int,
        *,
        shown: str,
        aside: bool,
        awaited: bool = False,
        value: Any = None,
        error: BaseException | None = None,
    ) -> Recorded:
        """The event for an effect of this pass."""
        return Recorded(
            step=self.origin[0],
            index=self.origin[1],
            name=name,
            fingerprint=fingerprint,
            use=use,
            value=value,
            shown=shown,
            aside=aside,
            error=None if error is None else describe(error),
            router=self.router,
            awaited=awaited,
        )

    def idempotency_key(self, name: str, fingerprint: str, use: int) -> str:
        """The same for an effect that a crash repeats; another one for a deliberate rerun."""
        birth = self.work.call.ledger.view.birth
        text = "\0".join((birth, self.key, str(self.router), name, fingerprint, str(use)))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def keep(self, effect: Any) -> None:
        """An async effect that has begun: it is finished even if its caller is cancelled."""
        self._pass.effects.add(effect)
        effect.add_done_callback(self._pass.effects.discard)

    def keep_call(self, task: Any) -> None:
        """A graph that is called on the loop: it ends before the pass does."""
        self.keep(task)
        self._pass.tasks.add(task)
        task.add_done_callback(self._pass.tasks.discard)
        task.add_done_callback(self._has_ended)

    def _has_ended(self, task: Any) -> None:
        self.leave()
        if not task.cancelled():
            task.exception()  # it is known from here; nobody may wait for it any more

    # ------------------------------------------------------------------------------------ questions
    def ask(self, question: Question) -> Asking:
        """The closed question that this is, with its answer; or suspend this strand."""
        with self._lock:
            self._check_open()
            if self.work.call.ledger.store is None:
                raise NeedsCheckpointer(
                    f"Node {self.node!r} asks a person, but its graph keeps nothing: compile it "
                    f"with a store, for example compile(checkpointer=SqliteStore('app.db'))."
                )
            name = f"?{question.key}" if question.key is not None else "?"
            about = "" if question.key is not None else question.fingerprint
            question.use = self._pass.uses.get((name, about), 0)
            self._pass.uses[name, about] = question.use + 1
            known = self._find(question)
            if known is not None:
                self._pass.matched.add(known.question.id)
                if known.status != "open":
                    return known
                raise self._suspend()
            self._ask_anew(question)
            raise self._suspend()

    def _find(self, question: Question) -> Asking | None:
        for asking in reversed(self._pass.questions):
            old = asking.question
            if asking.status in ("superseded", "withdrawn") or old.use != question.use:
                continue
            if question.key is not None:
                if old.key == question.key:
                    same = old.fingerprint == question.fingerprint or question.volatile
                    return asking if same else None
            elif old.key is None and old.fingerprint == question.fingerprint:
                return asking
        return None

    def _ask_anew(self, question: Question) -> None:
        """Stage a question; if it takes the place of an earlier one, count the changes there."""
        before = self._predecessor(question)
        replaces = None
        if before is not None:
            self._pass.matched.add(before.question.id)
            question.replaced = replaces = before.question.id
            question.changes = before.question.changes + 1
            if question.changes >= MOST_CHANGES:
                place = f"node {self.node!r}" + (f", key {question.key!r}" if question.key else "")
                self.failure = UnstableQuestion(
                    place, before=before.question.payload, after=question.payload
                )
                raise self.failure
        question.router = self.router
        asked = Asked(self.origin[0], self.origin[1], question, replaces)
        self.work.call.ledger.codec.check(question.payload, f"interrupt({question.key or ''})")
        self._pass.asked.append(asked)

    def _predecessor(self, question: Question) -> Asking | None:
        """The question of an earlier pass in whose place this one is asked."""
        replaced = {asking.question.replaced for asking in self._pass.questions}
        for asking in self._pass.questions:
            old = asking.question
            if asking.status == "withdrawn" or old.id in self._pass.matched or old.id in replaced:
                continue
            if old.key == question.key and (question.key is None or old.use == question.use):
                return asking
        return None

    # ------------------------------------------------------------------------------ calling a graph
    def enter(self, name: str, fingerprint: str, *, aside: bool) -> tuple[str, int | None]:
        """Under which key this call of a graph is kept, and its run if it has one.

        Whoever enters says `leave` when the graph has finished or waits.
        """
        with self._lock:
            self._check_open()
            if self.failure is not None:
                raise self.failure
            found = self._find_called(name, f"{name}:{fingerprint}#", aside=aside)
            if found is not None:
                self._calls += 1
                return found.key, found.run
            if self.waits:
                raise self._suspend()
            self.work.call.ledger.begins("calls graph", name)
            use = 0
            while (key := f"{name}:{fingerprint}#{use}") in self._pass.keys:
                use += 1
            self._pass.keys.add(key)
            self._calls += 1
            return key, None

    def _find_called(self, name: str, prefix: str, *, aside: bool) -> _Called | None:
        """The call of an earlier pass that this is; it is found once.

        In the node's own order a call may come with another input and is the same all the same.
        Beside it there is no order: what comes first may be a call that never came before.
        """
        earlier = self._pass.called.get(name, [])
        for called in earlier:
            if called.key.startswith(prefix):
                earlier.remove(called)
                return called
        for called in earlier:
            if not aside and not called.aside:
                earlier.remove(called)
                return called
        return None

    def leave(self) -> None:
        """A graph that was entered runs no longer."""
        with self._lock:
            self._calls -= 1
            if self._quiet is not None:
                self._quiet.notify_all()

    def wait_for_child(self) -> Suspended:
        """A graph that this pass called waits, so the pass does too."""
        with self._lock:
            return self._suspend()

    def cut_off(self, error: BaseException) -> None:
        """Whatever the pass still begins is refused; graphs that it called stop where they can."""
        with self._lock:
            if self.failure is None:
                self.failure = error
        for task in self._called_tasks():
            task.get_loop().call_soon_threadsafe(task.cancel)

    def give_up(self, error: BaseException) -> None:
        """The run is being stopped from outside: only effects are still waited for."""
        with self._lock:
            self._is_left = True
            if self._quiet is not None:
                self._quiet.notify_all()
        self.cut_off(error)

    def _called_tasks(self) -> list[Any]:
        notes = self._notes
        return list(notes.tasks) if notes is not None else []

    @property
    def is_given_up(self) -> bool:
        """Whether the run of this pass is being stopped from outside."""
        scope: Scope | None = self
        while scope is not None:
            if scope._is_left:
                return True
            scope = scope.work.caller
        return False

    @property
    def is_cut_off(self) -> bool:
        """Whether this pass, or one around it, can begin nothing more."""
        scope: Scope | None = self
        while scope is not None:
            if scope.failure is not None:
                return True
            scope = scope.work.caller
        return False

    # ----------------------------------------------------------------------------------- the ending
    def seal(self) -> None:
        """Wait for what has begun, then let nothing be recorded any more."""
        with self._lock:
            while self._is_busy:
                self._wait_for_news(None)
            self.sealed = True

    @property
    def _is_busy(self) -> bool:
        return self._running > 0 or (self._calls > 0 and not self._is_left)

    def seal_at_once(self) -> bool:
        """The same, if there is nothing to wait for."""
        with self._lock:
            if self._is_busy or (self._notes is not None and self._notes.effects):
                return False
            self.sealed = True
            return True

    async def seal_on_loop(self) -> None:
        """The same, without blocking the loop that the effects run on."""
        while True:
            effects = set(self._notes.effects) if self._notes is not None else ()
            if effects:
                import asyncio

                await asyncio.wait(effects)
                continue
            with self._lock:
                if not self._is_busy:
                    self.sealed = True
                    return
            from caesura.engine.performer import in_thread

            await in_thread(self._wait_quietly)

    def _wait_quietly(self) -> None:
        with self._lock:
            while self._is_busy and not self._pass.effects:
                self._wait_for_news(0.1)

    def _wait_for_news(self, seconds: float | None) -> None:
        """Until an effect is over, or for so long. Called under the lock."""
        if self._quiet is None:
            self._quiet = threading.Condition(self._lock)
        self._quiet.wait(seconds)

    def stage_questions(self) -> None:
        """Stage what this pass asked, and withdraw what it did not ask again."""
        if self._notes is None and self._journal is None:
            return
        notes = self._pass
        gone = [
            Withdrawn(q.question.id, "its node did not ask it again")
            for q in notes.questions
            if q.status == "open" and q.question.id not in notes.matched
        ]
        asked = [] if self.failure is not None else notes.asked
        if gone or asked:
            self.work.call.ledger.stage(*gone, *asked)
