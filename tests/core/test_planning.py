"""What comes next: the tasks of the next step, breakpoints, and what a thread's state is called."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura.core.control import END, START
from caesura.core.decide import (
    Ended,
    can_go_on,
    held_by,
    is_finished,
    is_runnable,
    open_questions,
    plan_first,
    plan_next,
    status_of,
)
from caesura.core.parts import ErrorInfo, Handling, Planned, Question, Sent
from caesura.core.plan import Plan
from caesura.core.view import Asking, JournalView, RunView, TaskView, ThreadView
from tests.core.graphs import graph_of, line_of, nothing, plan_of


def after(plan: Plan, *ended: str | Ended, **carried: Any) -> list[Planned]:
    """The next tasks, when these nodes have ended."""
    tasks = [Ended(one, ()) if isinstance(one, str) else one for one in ended]
    return plan_next(plan, carried.get("joins", {}), carried.get("deferred", ()), tasks).next


# ------------------------------------------------------------------------------------- what is next
def test_the_entry_comes_first() -> None:
    assert plan_first(plan_of(line_of("a", "b"))).next == ["a"]


def test_edges_are_followed_in_the_order_of_names() -> None:
    builder = graph_of("a", "z", "b").add_edge(START, "a").add_edge("a", "z").add_edge("a", "b")
    assert after(plan_of(builder), "a") == ["b", "z"]


def test_a_node_named_twice_runs_once() -> None:
    builder = graph_of("a", "b", "c").add_edge(START, "a").add_edge("a", "c").add_edge("b", "c")
    assert after(plan_of(builder), "a", Ended("b", ["c"])) == ["c"]


def test_the_end_is_no_task() -> None:
    assert after(plan_of(line_of("a")), Ended("a", [END])) == []


def test_sends_come_after_names_in_the_order_in_which_they_were_issued() -> None:
    plan = plan_of(line_of("a", "b", "w"))
    second, first = Sent("w", 2), Sent("w", 1)
    assert after(plan, Ended("a", [second, first]), Ended("w", ["a"])) == ["a", "b", second, first]


def test_a_node_reached_by_an_edge_and_by_a_send_runs_for_both() -> None:
    plan = plan_of(line_of("a", "b"))
    assert after(plan, Ended("a", [Sent("b", 1)])) == ["b", Sent("b", 1)]


def test_a_handled_failure_goes_to_the_handler_and_not_along_the_edges() -> None:
    plan = plan_of(line_of("a", "b"))
    handling = Handling("__error_handler__a", "a", ErrorInfo("ValueError", "no"))
    assert after(plan, Ended("a", (), handling)) == [handling]


# -------------------------------------------------------------------------------------------- joins
def joining() -> Plan:
    builder = graph_of("a", "b", "c", "end")
    for name in "abc":
        builder.add_edge(START, name)
    return plan_of(builder.add_edge(["a", "b", "c"], "end"))


def test_a_join_waits_for_all_and_remembers_who_came() -> None:
    plan = joining()
    planning = plan_next(plan, {}, (), [Ended("a", ()), Ended("c", ())])
    assert planning.next == []
    assert planning.joins == {"a+b+c:end": ["a", "c"]}
    planning = plan_next(plan, planning.joins, (), [Ended("b", ())])
    assert (planning.next, planning.joins) == (["end"], None)


@given(st.permutations(["a", "b", "c"]), st.sets(st.integers(1, 2)))
def test_a_join_fires_once_whoever_comes_first(order: list[str], cuts: set[int]) -> None:
    plan, fired = joining(), []
    joins: dict[str, list[str]] = {}
    bounds = [0, *sorted(cuts), 3]
    for start, end in itertools.pairwise(bounds):
        planning = plan_next(plan, joins, (), [Ended(name, ()) for name in order[start:end]])
        fired += planning.next
        joins = planning.joins or {}
    assert (fired, joins) == (["end"], {})


def test_planning_leaves_what_it_was_given_as_it_was() -> None:
    joins = {"a+b+c:end": ["a"]}
    plan_next(joining(), joins, (), [Ended("b", ())])
    assert joins == {"a+b+c:end": ["a"]}


# ---------------------------------------------------------------------------------- deferred nodes
def deferring() -> Plan:
    builder = graph_of("a", "b").add_node("last", nothing, defer=True).add_edge(START, "a")
    return plan_of(builder.add_edge("a", "b").add_edge("a", "last").add_edge("b", "last"))


def test_a_deferred_node_waits_until_nothing_else_is_left() -> None:
    plan = deferring()
    planning = plan_next(plan, {}, (), [Ended("a", ())])
    assert (planning.next, planning.deferred) == (["b"], ["last"])
    planning = plan_next(plan, {}, planning.deferred or (), [Ended("b", ())])
    assert (planning.next, planning.deferred) == (["last"], None)


def test_a_deferred_node_waits_for_sends_too() -> None:
    planning = plan_next(deferring(), {}, ["last"], [Ended("b", [Sent("a", 1)])])
    assert (planning.next, planning.deferred) == ([Sent("a", 1)], ["last"])


# ---------------------------------------------------------------------------- where a thread holds
def at(*nodes: str, **changes: Any) -> tuple[ThreadView, RunView]:
    """A thread whose next tasks are these."""
    options = {"source": "loop", "step": 1, **changes}
    run = RunView(id=0, graph="graph", tasks=[TaskView(node=name) for name in nodes], **options)
    return ThreadView(birth="b", graph="graph", runs={0: run}), run


def test_a_breakpoint_before_a_node_holds_the_whole_step() -> None:
    plan = plan_of(line_of("a", "b"), interrupt_before=["b"])
    assert held_by(plan, *at("a", "b")) == ("before", ["b"])
    assert held_by(plan, *at("a")) is None


def test_a_breakpoint_after_a_node_holds_the_step_that_follows() -> None:
    plan = plan_of(line_of("a", "b"), interrupt_after="*")
    assert held_by(plan, *at("b", ran=["a"])) == ("after", ["a"])


def test_a_breakpoint_after_the_last_node_does_not_hold() -> None:
    assert held_by(plan_of(line_of("a"), interrupt_after="*"), *at(ran=["a"])) is None


def test_a_breakpoint_that_was_passed_does_not_hold_again() -> None:
    assert held_by(plan_of(line_of("a"), interrupt_before="*"), *at("a", passed=True)) is None


def test_breakpoints_of_the_call_and_of_the_thread_hold_too() -> None:
    plan = plan_of(line_of("a", "b"))
    assert held_by(plan, *at("a", before=["a"])) == ("before", ["a"])
    view, run = at("b")
    view.before = ["*"]
    assert held_by(plan, view, run) == ("before", ["b"])


def test_breakpoints_of_the_thread_do_not_hold_its_child_graphs() -> None:
    view, _ = at("a")
    view.before = ["*"]
    child = RunView(id=1, graph="child", source="loop", tasks=[TaskView(node="a")])
    assert held_by(plan_of(line_of("a")), view, child) is None


# ------------------------------------------------------------------------------------ what is ready
def asks(view: ThreadView, index: int, id: str, status: str = "open") -> None:
    """The task has asked a question."""
    question = Question(id, None, "f", 0, "?")
    key = f"{view.runs[0].step}.{index}"
    journal = view.journals.setdefault(key, JournalView())
    journal.questions.append(Asking(question, status))
    view.questions[id] = key


def test_a_task_that_waits_for_an_answer_cannot_run() -> None:
    view, run = at("a", "b")
    asks(view, 0, "q")
    assert [is_runnable(view, run, i) for i in (0, 1)] == [False, True]
    assert can_go_on(view, run)
    assert open_questions(view) == ["q"]


def test_a_task_runs_when_all_its_questions_are_answered() -> None:
    view, run = at("a")
    asks(view, 0, "q", status="answered")
    asks(view, 0, "r")
    assert not is_runnable(view, run, 0)
    view.journals["1.0"].questions[1].status = "expired"
    assert is_runnable(view, run, 0)


def test_a_task_is_over_when_its_conditional_edges_are() -> None:
    assert not is_finished(TaskView(node="a", writes=[]))
    assert is_finished(TaskView(node="a", writes=[], goto=[]))


def failed(view: ThreadView) -> None:
    view.runs[0].tasks[0].error = ErrorInfo("ValueError", "no")


def question_open(view: ThreadView) -> None:
    asks(view, 0, "q")


def held(view: ThreadView) -> None:
    view.runs[0].held = "before"


def cancelled(view: ThreadView) -> None:
    view.stopped = "cancel"


def finished(view: ThreadView) -> None:
    view.runs[0].tasks = []


@pytest.mark.parametrize(
    ("happened", "status"),
    [
        ([], "suspended"),
        ([question_open], "waiting"),
        ([held], "held"),
        ([held, question_open], "waiting"),
        ([failed], "failed"),
        ([failed, question_open], "failed"),
        ([finished], "done"),
        ([question_open, cancelled], "cancelled"),
    ],
)
def test_a_thread_that_nobody_runs_has_a_status(happened: list[Any], status: str) -> None:
    view, _ = at("a")
    for change in happened:
        change(view)
    assert status_of(view) == status
