"""Somebody who answers as a script says, so that a test can run a workflow from end to end.

Promises: answers go in through `graph.answer`, as those of people do, and are refused as theirs
are; what was asked and what became of each answer is kept in `seen`. A question that the script has
no answer to is an error that shows it, once all the others are answered.
Does not promise: to pass breakpoints, nor to try again what failed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from caesura.core.control import UNSET
from caesura.errors import AuthoringError, QuestionClosed, QuestionExpired, nearest

if TYPE_CHECKING:
    from caesura.core.control import Interrupt
    from caesura.testing.clock import ManualClock

Length = float | str | timedelta
Predicate = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class SeenQuestion:
    """A question that was answered. `refused` says why the answer was not taken."""

    key: str | None
    payload: Any
    id: str
    answer: Any
    refused: QuestionClosed | QuestionExpired | None = None


class UnexpectedQuestion(AuthoringError, AssertionError):
    """A workflow asks what the script has no answer to."""

    def __init__(self, thread: str, questions: list[Interrupt], knows: str, hint: str) -> None:
        self.thread, self.questions = thread, tuple(questions)
        shown = " and ".join(f"{_name(q)} with payload {q.value!r}" for q in questions)
        super().__init__(
            f"Thread {thread!r} asks {shown}, to which the script has no answer: {knows}. {hint}"
        )


class ScriptedHuman:
    """Answers the open questions of a thread until it is done.

        human = ScriptedHuman({"verdict": {"ok": True}}, by="ana")
        human.when(lambda payload: "name" in payload, "Bo").then("first", "second")
        result = human.work(graph, {"amount": 5}, thread="order-7")

    Answers are given by key, or as a list in the order in which they are asked for. A question's
    key decides, then the predicates as they were given, then the answers in order. One answer
    serves every question of its kind; of several each serves one. A function given as an
    answer is called with the payload. With a `clock`, each answer takes its time first (`takes`:
    seconds, a timedelta, or text such as "3h"), so that it may come too late. `leave_others` leaves
    questions without an answer open, for somebody else. A workflow that has asked `most_answers`
    questions in one go and is not done is taken to ask for ever.
    """

    def __init__(
        self,
        answers: Mapping[str, Any] | list[Any] | tuple[Any, ...] | None = None,
        *,
        by: str | None = "scripted human",
        clock: ManualClock | None = None,
        takes: Length | None = None,
        leave_others: bool = False,
        most_answers: int = 1000,
    ) -> None:
        self.by = by
        self.seen: list[SeenQuestion] = []
        self._clock, self._leave_others = clock, leave_others
        self._most_answers = most_answers
        self._takes = self._seconds(takes)
        self._by_key: dict[str, _Rule] = {}
        self._by_payload: list[tuple[Predicate, _Rule]] = []
        self._in_order = _Rule([], self._takes, each_once=True)
        if isinstance(answers, list | tuple):
            self.then(*answers)
        else:
            for key, answer in (answers or {}).items():
                self.on(key, answer)

    # ------------------------------------------------------------------------------- the script
    def on(self, key: str, *answers: Any, takes: Length | None = None) -> Self:
        """Answer questions of this key."""
        self._by_key[key] = self._rule(answers, takes)
        return self

    def when(self, fits: Predicate, *answers: Any, takes: Length | None = None) -> Self:
        """Answer questions whose payload fits."""
        self._by_payload.append((fits, self._rule(answers, takes)))
        return self

    def then(self, *answers: Any) -> Self:
        """Answer whatever else is asked, one after another."""
        self._in_order.answers.extend(answers)
        return self

    def _rule(self, answers: tuple[Any, ...], takes: Length | None) -> _Rule:
        if not answers:
            raise AuthoringError("A script needs an answer: human.on('verdict', {'ok': True}).")
        takes_s = self._takes if takes is None else self._seconds(takes)
        return _Rule(list(answers), takes_s, each_once=len(answers) > 1)

    def _seconds(self, takes: Length | None) -> float:
        if not takes:
            return 0.0
        if self._clock is None:
            raise AuthoringError(
                f"takes={takes!r} moves a clock: ScriptedHuman(..., clock=manual_clock), the one "
                f"that the graph's store was given."
            )
        from caesura.engine.interrupts import seconds_in

        return seconds_in(takes)

    def _rule_for(self, question: Interrupt) -> _Rule | None:
        keyed = self._by_key.get(question.key) if question.key is not None else None
        if keyed is not None and keyed.answers:
            return keyed
        for fits, rule in self._by_payload:
            if rule.answers and fits(question.value):
                return rule
        return self._in_order if self._in_order.answers else None

    # ---------------------------------------------------------------------------------- working
    def work(self, graph: Any, input: Any = UNSET, *, thread: str, **options: Any) -> Any:
        """Start the thread with an input, if one is given, and answer what it asks.

        Returns what the last call returned; the thread's values when there was nothing to do.
        Options go to `graph.invoke`.
        """
        steps = self._steps(input, thread, options)
        call = next(steps)
        while True:
            try:
                try:
                    value = getattr(graph, call.method)(*call.args, **call.options)
                except Exception as error:  # noqa: BLE001 - whether it matters is decided there
                    call = steps.throw(error)
                else:
                    call = steps.send(value)
            except StopIteration as done:
                return done.value

    async def awork(self, graph: Any, input: Any = UNSET, *, thread: str, **options: Any) -> Any:
        """`work` through the async API."""
        steps = self._steps(input, thread, options)
        call = next(steps)
        while True:
            try:
                try:
                    value = await getattr(graph, f"a{call.method}")(*call.args, **call.options)
                except Exception as error:  # noqa: BLE001 - whether it matters is decided there
                    call = steps.throw(error)
                else:
                    call = steps.send(value)
            except StopIteration as done:
                return done.value

    def _steps(self, given: Any, thread: str, options: dict[str, Any]) -> _Steps:
        """What is asked of the graph, one call after another; whoever drives this performs them."""
        options = {"thread": thread, **options}
        result = UNSET
        if given is not UNSET:
            result = yield _Call("invoke", (given,), options)
        answered = 0
        while True:
            snapshot = yield _Call("get_state", (thread,), {})
            known = [q for q in snapshot.interrupts if self._rule_for(q) is not None]
            if not known:
                if snapshot.interrupts and not self._leave_others:
                    raise self._unexpected(thread, list(snapshot.interrupts))
                return snapshot.values if result is UNSET else result
            for question in known:
                answered += yield from self._answer(question)
            if answered > self._most_answers:
                raise AuthoringError(
                    f"Thread {thread!r} has asked more than {self._most_answers} questions and is "
                    f"not done. Does it ask again until the answer is another one? Give several: "
                    f"human.on(key, first, second). A longer talk needs most_answers=..."
                )
            result = yield _Call("invoke", (None,), options)

    def _answer(self, question: Interrupt) -> Generator[_Call, Any, int]:
        rule = self._rule_for(question)
        if rule is None:  # the last answer has gone to the question before
            return 0
        answer = rule.take(question.value)
        if self._clock is not None:
            self._clock.advance(rule.takes_s)
        refused = None
        try:
            yield _Call("answer", (question.id, answer), {"by": self.by})
        except (QuestionClosed, QuestionExpired) as error:  # too late, or somebody was faster
            refused = error
        self.seen.append(SeenQuestion(question.key, question.value, question.id, answer, refused))
        return 1

    def _unexpected(self, thread: str, questions: list[Interrupt]) -> UnexpectedQuestion:
        keys = [key for key, rule in self._by_key.items() if rule.answers]
        knows = [f"it knows the keys {', '.join(map(repr, keys))}" if keys else "it knows no key"]
        used_up = [key for key in self._by_key if key not in keys]
        if used_up:
            knows.append(f"its answers to {', '.join(map(repr, used_up))} are used up")
        if self._by_payload:
            names = (getattr(fits, "__name__", repr(fits)) for fits, _ in self._by_payload)
            knows.append(f"no payload fits {', '.join(names)}")
        knows.append("no answers in order are left")
        asked = questions[0].key
        if asked is None:
            hint = "Add human.when(predicate, answer), human.then(answer), or a key to interrupt()."
        else:
            hint = nearest(asked, keys, f"Add human.on({asked!r}, answer).")
        return UnexpectedQuestion(thread, questions, "; ".join(knows), hint)


# ------------------------------------------------------------------------------------ inside of it
class _Call(NamedTuple):
    """A method of the graph to be called, by this name or by that of its async twin."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]


_Steps = Generator[_Call, Any, Any]


@dataclass(slots=True)
class _Rule:
    """The answers to one kind of question, and how long each takes."""

    answers: list[Any]
    takes_s: float
    each_once: bool

    def take(self, payload: Any) -> Any:
        answer = self.answers.pop(0) if self.each_once else self.answers[0]
        return answer(payload) if callable(answer) else answer


def _name(question: Interrupt) -> str:
    return "a question without a key" if question.key is None else f"question {question.key!r}"
