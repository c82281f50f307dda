"""A thread as its log tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from caesura.core import events as ev
from caesura.core.control import START
from caesura.core.history import Fold
from caesura.core.journals import find_question
from caesura.core.parts import ErrorInfo, Question, Sent
from caesura.core.plan import Plan
from caesura.core.view import ThreadView
from tests.core.graphs import line_of, plan_of

PLAN = plan_of(line_of("a", "b"))


def folded(
    *events: ev.Event, plan: Plan | None = PLAN, view: ThreadView | None = None
) -> ThreadView:
    """What a thread is after these events, each in a record of its own."""
    fold = Fold(view or ThreadView(), lambda view, run: plan.state if plan else None)
    for at, event in enumerate(events):
        fold.apply(at * 100, [event])
    return fold.view


OPENED = ev.Opened("birth", "graph", {"log": "operator.add"})


def started(*writes: dict[str, Any], next: Sequence[Any] = ("a",)) -> ev.Started:
    return ev.Started(0, list(writes), list(next))


def stepped(*next: Any, log: str = "a") -> ev.Stepped:
    return ev.Stepped(0, list(next), writes=[{"log": [log]}])


def asked(id: str, *, key: str | None = None, replaces: str | None = None) -> ev.Asked:
    return ev.Asked(1, 0, Question(id, key, "f", 0, "?"), replaces)


# -------------------------------------------------------------------------------------------- steps
def test_a_start_makes_two_steps_and_the_input_is_in_the_second() -> None:
    view = folded(OPENED, started({"log": ["in"]}))
    run = view.runs[0]
    assert (view.steps, run.step, run.source) == (2, 1, "loop")
    assert [task.node for task in run.tasks] == ["a"]
    assert run.values == {"log": ["in"]}


def test_an_entry_by_conditional_edges_is_a_task_of_the_start() -> None:
    run = folded(OPENED, ev.Started(0, [{"log": ["in"]}], None)).runs[0]
    assert [(task.node, task.writes) for task in run.tasks] == [(START, [{"log": ["in"]}])]
    assert run.values == {"log": []}


def test_a_step_applies_writes_and_plans_the_next_tasks() -> None:
    run = folded(OPENED, started(), stepped("b", Sent("b", 5))).runs[0]
    assert run.values == {"log": ["a"]}
    assert [(task.node, task.sent, task.arg) for task in run.tasks] == [
        ("b", False, None),
        ("b", True, 5),
    ]
    assert (run.ran, run.parent_step, run.step) == (["a"], 1, 2)


def test_writes_of_side_by_side_tasks_are_applied_in_their_order_and_not_as_they_finish() -> None:
    run = folded(
        OPENED,
        started(next=["a", "b"]),
        ev.Done(1, 1, [{"log": ["b"]}], []),
        ev.Done(1, 0, [{"log": ["a"]}], []),
        ev.Stepped(0, []),
    ).runs[0]
    assert run.values == {"log": ["a", "b"]}


def test_nothing_is_committed_before_the_step_is() -> None:
    run = folded(OPENED, started(next=["a", "b"]), ev.Done(1, 0, [{"log": ["a"]}], [])).runs[0]
    assert run.values == {"log": []}
    assert run.tasks[0].writes == [{"log": ["a"]}]


def test_several_steps_in_one_entry_count_as_several() -> None:
    leapt = ev.Leapt(0, 3, {"n": 5}, ["b"], ["a"])
    run = folded(OPENED, started({"log": ["in"]}), leapt).runs[0]
    assert run.values == {"log": ["in"], "n": 5}
    assert (run.step, run.count) == (4, 3)


# ---------------------------------------------------------------------------------------- questions
def test_an_answer_closes_its_question_and_no_other() -> None:
    view = folded(OPENED, started(), asked("q"), asked("r"), ev.Answered("q", "yes", by="ana"))
    first, second = find_question(view, "q"), find_question(view, "r")
    assert first is not None
    assert second is not None
    assert (first.status, first.answer, first.by) == ("answered", "yes", "ana")
    assert second.status == "open"


def test_a_second_answer_changes_nothing() -> None:
    view = folded(OPENED, started(), asked("q"), ev.Answered("q", 1), ev.Answered("q", 2))
    asking = find_question(view, "q")
    assert asking is not None
    assert asking.answer == 1


def test_an_answer_after_the_deadline_changes_nothing() -> None:
    view = folded(OPENED, started(), asked("q"), ev.Expired("q"), ev.Answered("q", 2))
    asking = find_question(view, "q")
    assert asking is not None
    assert (asking.status, asking.answer) == ("expired", None)


def test_a_replaced_question_is_superseded() -> None:
    view = folded(OPENED, started(), asked("q"), asked("r", replaces="q"))
    statuses = [find_question(view, id).status for id in ("q", "r")]  # type: ignore[union-attr]
    assert statuses == ["superseded", "open"]


def test_a_finished_step_forgets_its_journals() -> None:
    view = folded(
        OPENED,
        started(),
        ev.Recorded(1, 0, "charge", "f", 0, 5),
        asked("q"),
        ev.Answered("q", 1),
        stepped("b"),
    )
    assert (view.journals, view.questions) == ({}, {})


# ------------------------------------------------------------------------------------------ failing
def test_a_failure_is_kept_until_it_is_tried_again() -> None:
    failed = ev.Failed(1, 0, ErrorInfo("ValueError", "no"), attempts=3)
    view = folded(OPENED, started(), failed)
    task = view.runs[0].tasks[0]
    assert task.error is not None
    assert (task.error.message, task.attempts) == ("no", 3)
    assert folded(ev.Retried(), view=view).runs[0].tasks[0].error is None


def test_trying_again_forgets_recorded_failures_and_keeps_what_was_performed() -> None:
    view = folded(
        OPENED,
        started(),
        ev.Recorded(1, 0, "charge", "f", 0, 5),
        ev.Recorded(1, 0, "notify", "f", 0, None, error=ErrorInfo("OSError", "down")),
        ev.Retried(),
    )
    assert [recording.name for recording in view.journals["1.0"].recordings] == ["charge"]


# -------------------------------------------------------------------------------------- going back
def test_going_back_restores_the_state_and_never_counts_backwards() -> None:
    past = folded(OPENED, started({"log": ["in"]}))
    view = folded(OPENED, started({"log": ["in"]}), stepped("b"), stepped(log="b"))
    steps = view.steps
    view = folded(ev.Rewound(1, "replay", past), view=view)
    run = view.runs[0]
    assert run.values == {"log": ["in"]}
    assert [task.node for task in run.tasks] == ["a"]
    assert (run.source, run.parent_step, run.step) == ("fork", 1, steps)


# ---------------------------------------------------------------------------- without the reducers
def test_writes_wait_for_reducers_that_are_not_known_and_lose_nothing() -> None:
    events = [OPENED, started({"log": ["in"]}), stepped("b"), stepped(log="b")]
    fold = Fold(folded(*events, plan=None), lambda view, run: PLAN.state)
    fold.attach(fold.view.runs[0])
    assert fold.view.runs[0].values == folded(*events).runs[0].values == {"log": ["in", "a", "b"]}


# --------------------------------------------------------------------------------------- properties
LOGS = st.lists(
    st.one_of(
        st.text(max_size=2).map(lambda text: stepped("a", "b", log=text)),
        st.just(started({"log": ["again"]})),
        st.sampled_from([ev.Held(0, "before", ["a"]), ev.WentOn(0), ev.StopRequested("suspend")]),
    ),
    max_size=8,
)


def dump(view: ThreadView) -> bytes:
    return msgspec.msgpack.encode(view)


@given(LOGS)
def test_folding_is_the_same_every_time(log: list[ev.Event]) -> None:
    assert dump(folded(OPENED, started(), *log)) == dump(folded(OPENED, started(), *log))


@given(LOGS, st.integers(0, 8))
def test_folding_can_go_on_from_any_snapshot(log: list[ev.Event], cut: int) -> None:
    whole = folded(OPENED, started(), *log[:cut])
    snapshot = msgspec.msgpack.decode(dump(whole), type=ThreadView)
    fold = Fold(snapshot, lambda view, run: PLAN.state)
    straight = Fold(whole, lambda view, run: PLAN.state)
    for event in log[cut:]:
        fold.apply(10_000, [event])
        straight.apply(10_000, [event])
    assert dump(fold.view) == dump(straight.view)


@given(LOGS)
def test_folding_does_not_change_the_log(log: list[ev.Event]) -> None:
    before = [msgspec.msgpack.encode(event) for event in log]
    folded(OPENED, started(), *log)
    assert [msgspec.msgpack.encode(event) for event in log] == before
