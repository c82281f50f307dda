"""Steps of graphs inside of graphs: looking at them, changing them, going back to them."""

from __future__ import annotations

import pytest

from caesura import START, Command, StateGraph, interrupt, once
from caesura.errors import UnknownStep
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, parent_of, saying, told


@pytest.fixture
def calls():
    return []


@pytest.fixture
def child(calls):
    """one, then a question."""

    def one(state):
        calls.append("one")
        return {"notes": ["one"]}

    builder = StateGraph(Story).add_node(one).add_node(asking("good?")).add_edge(START, "one")
    return builder.add_edge("one", "review").compile(name="child")


@pytest.fixture
def graph(app, child):
    """before, then the child as a node, then after; its thread waits in the child."""
    builder = StateGraph(Story).add_node(saying("before")).add_node("child", child)
    builder.add_node(saying("after")).add_edge(START, "before").add_edge("before", "child")
    graph = app.compile(builder.add_edge("child", "after"))
    app.run(graph, {"amount": 1})
    return graph


def child_config(app, graph):
    return app.state(graph).tasks[0].state


class TestLooking:
    def test_a_task_names_the_config_of_its_child(self, app, graph):
        (task,) = app.state(graph).tasks
        names = task.state["configurable"]
        assert names["thread_id"] == "t"
        assert names["checkpoint_ns"] == f"child:{task.id}"

    def test_the_child_s_state_can_be_looked_up_by_it(self, app, graph):
        state = app.state(graph, thread=child_config(app, graph))
        assert (state.values["notes"], state.next) == (["before", "one"], ("review",))
        assert [question.value for question in state.interrupts] == ["good?"]

    def test_the_child_s_state_can_come_with_its_parent_s(self, app, graph):
        inner = app.state(graph, subgraphs=True).tasks[0].state
        assert inner == app.state(graph, thread=child_config(app, graph))

    def test_the_parent_shows_the_child_s_question(self, app, graph):
        outer, inner = app.state(graph), app.state(graph, subgraphs=True).tasks[0].state
        assert outer.interrupts == outer.tasks[0].interrupts == inner.interrupts

    def test_the_child_s_steps_name_the_step_around_them(self, app, graph):
        inner = app.state(graph, subgraphs=True).tasks[0].state
        assert inner.metadata["parents"] == {"": id_of(app.state(graph))}

    def test_the_child_has_a_history_of_its_own(self, app, graph):
        assert told(app.history(graph, thread=child_config(app, graph))) == [
            ("loop", 1, ("review",)),
            ("loop", 0, ("one",)),
            ("input", -1, ("__start__",)),
        ]

    def test_the_parent_s_history_does_not_show_the_child_s_steps(self, app, graph):
        assert len(app.history(graph)) == 3

    def test_the_child_s_history_can_be_read_when_it_is_done(self, app, graph):
        config = child_config(app, graph)
        app.answer(graph, "yes")
        assert told(app.history(graph, thread=config))[0] == ("loop", 2, ())
        assert app.state(graph, thread=config).values["notes"] == ["before", "one", "good? yes"]

    def test_a_past_task_leads_to_its_child(self, app, graph):
        app.answer(graph, "yes")
        (task,) = before(app, graph, "child").tasks
        assert len(app.history(graph, thread=task.state)) == 4

    def test_a_past_task_shows_what_its_child_asked(self, app, graph):
        app.answer(graph, "yes")
        assert [question.value for question in before(app, graph, "child").interrupts] == ["good?"]

    def test_a_child_that_was_not_begun_is_empty(self, app, child):
        builder = StateGraph(Story).add_node("child", child).add_edge(START, "child")
        graph = app.compile(builder, interrupt_before=["child"])
        app.run(graph, {"amount": 1})
        assert app.state(graph, subgraphs=True).tasks[0].state.values == {}

    def test_a_finished_child_is_shown_beside_one_that_waits(self, app, child):
        quick = StateGraph(Story).add_node(saying("q")).add_edge(START, "q").compile(name="quick")
        builder = StateGraph(Story).add_node("child", child).add_node("quick", quick)
        graph = app.compile(builder.add_edge(START, "child").add_edge(START, "quick"))
        app.run(graph, {"amount": 1})
        states = {task.name: task.state for task in app.state(graph, subgraphs=True).tasks}
        assert states["quick"].values["notes"] == ["q"]
        assert states["child"].next == ("review",)

    def test_a_child_that_a_function_calls_is_shown_too(self, app, child):
        def call(state):
            return {"notes": child.invoke({"amount": 5})["notes"]}

        graph = app.chain(call)
        app.run(graph, {"amount": 1})
        inner = app.state(graph, subgraphs=True).tasks[0].state
        assert (inner.values, inner.next) == ({"amount": 5, "notes": ["one"]}, ("review",))

    def test_of_two_children_of_one_function_the_one_at_work_is_shown(self, app, child):
        def call(state):
            first = child.invoke({"amount": 5})
            second = child.invoke({"amount": 6})
            return {"notes": first["notes"] + second["notes"]}

        graph = app.chain(call)
        app.run(graph, {"amount": 1})
        app.answer(graph, "yes")
        assert app.state(graph, subgraphs=True).tasks[0].state.values["amount"] == 6

    def test_grandchildren_are_reached_by_their_path(self, app, child):
        builder = StateGraph(Story).add_node("child", child).add_edge(START, "child")
        middle = builder.compile(name="middle")
        graph = app.compile(StateGraph(Story).add_node("middle", middle).add_edge(START, "middle"))
        app.run(graph, {"amount": 1})
        inner = app.state(graph, subgraphs=True).tasks[0].state.tasks[0].state
        assert inner.next == ("review",)
        assert app.state(graph, thread=inner.config).next == ("review",)


class TestChanging:
    def test_a_waiting_child_s_state_can_be_changed(self, app, graph):
        app.update(graph, {"notes": ["by hand"]}, thread=child_config(app, graph))
        assert app.state(graph, thread=child_config(app, graph)).values["notes"] == [
            "before",
            "one",
            "by hand",
        ]

    def test_its_question_stays_open_and_is_answered_on_the_new_state(self, app, graph):
        asked = app.state(graph).interrupts
        app.update(graph, {"notes": ["by hand"]}, thread=child_config(app, graph))
        assert app.state(graph).interrupts == asked
        assert app.answer(graph, "yes")["notes"][-3:] == ["by hand", "good? yes", "after"]

    def test_the_config_of_its_new_step_comes_back(self, app, graph):
        config = app.update(graph, {"notes": ["x"]}, thread=child_config(app, graph))
        assert app.state(graph, thread=config).values["notes"] == ["before", "one", "x"]

    def test_an_update_as_the_child_goes_on_behind_it(self, app, graph):
        app.update(graph, {"notes": ["instead"]}, as_node="child")
        assert app.go_on(graph)["notes"] == ["before", "instead", "after"]

    def test_an_older_step_of_the_child_can_be_changed(self, app, graph, calls):
        first = app.history(graph, thread=child_config(app, graph))[1]
        config = app.update(graph, {"notes": ["x"]}, thread=first.config)
        assert parent_of(app.state(graph, thread=config)) == id_of(first)
        assert [question.value for question in app.go_on(graph).interrupts] == ["good?"]
        assert calls == ["one", "one"]
        notes = app.answer(graph, "yes")["notes"]
        assert notes == ["before", "before", "x", "one", "good? yes", "after"]

    def test_a_child_that_has_finished_cannot_be_changed(self, app, graph):
        config = child_config(app, graph)
        app.answer(graph, "yes")
        with pytest.raises(UnknownStep):
            app.update(graph, {"notes": ["too late"]}, thread=config)


class TestGoingBack:
    def test_to_the_parent_s_step_starts_the_child_from_its_first_node(self, app, graph, calls):
        app.answer(graph, "yes")
        app.run(graph, None, config=before(app, graph, "child").config)
        assert calls == ["one", "one"]

    def test_to_the_child_s_step_restores_the_child_as_of_then(self, app, graph, calls):
        inside = app.history(graph, thread=child_config(app, graph))
        app.answer(graph, "yes")
        again = app.run(graph, None, config=inside[0].config)
        assert [question.value for question in again.interrupts] == ["good?"]
        assert calls == ["one"]
        assert app.answer(graph, "no")["notes"][-3:] == ["one", "good? no", "after"]

    def test_to_the_child_s_step_forks_the_parent_once(self, app, graph):
        inside = app.history(graph, thread=child_config(app, graph))
        waited_at = app.state(graph)
        app.answer(graph, "yes")
        app.run(graph, None, config=inside[0].config)
        (fork,) = app.history(graph, filter={"source": "fork"})
        assert (parent_of(fork), fork.next) == (id_of(waited_at), ("child",))
        assert fork == app.history(graph)[0]

    def test_to_the_child_s_step_the_fork_has_a_child_of_its_own(self, app, graph):
        inside = app.history(graph, thread=child_config(app, graph))
        app.answer(graph, "yes")
        app.run(graph, None, config=inside[0].config)
        assert told(app.history(graph, thread=child_config(app, graph))) == [
            ("fork", 2, ("review",))
        ]

    def test_what_its_caller_had_done_before_is_not_done_again(self, app, child, till):
        def call(state):
            receipt = once(till.charge, 5)
            told = interrupt("sure?", key="sure")
            return {"notes": [receipt, told, *child.invoke({"amount": 5})["notes"]]}

        graph = app.chain(call)
        app.run(graph, {"amount": 1})
        app.answer(graph, "yes")
        inside = app.history(graph, thread=child_config(app, graph))
        app.answer(graph, "good")
        again = app.run(graph, None, config=inside[0].config)
        assert [question.value for question in again.interrupts] == ["good?"]
        assert app.answer(graph, "bad")["notes"] == ["receipt 1", "yes", "one", "good? bad"]
        assert till.charged == [5]

    def test_a_command_can_answer_there(self, app, graph):
        inside = app.history(graph, thread=child_config(app, graph))
        app.run(graph, Command(resume="yes"), config=inside[0].config)
        assert app.state(graph).values["notes"][-2:] == ["good? yes", "after"]
