"""Changing a thread from outside: update_state, bulk_update_state."""

from ..registry import case
from .states import Mixed, ask, graph_of, kept, line_of, say


@case
def update_a_finished_thread(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []})
    talk.update({"log": ["edited"]})
    talk.state()
    talk.history()


@case
def update_a_thread_that_never_started(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.update({"log": ["seed"]})
    talk.state()
    talk.invoke(None)
    talk.invoke({"log": []})


@case
def update_a_new_thread_as_a_node(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.update({"log": ["seed"]}, as_node="a")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_as_a_node_goes_on_from_there(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []})
    talk.update({"log": ["as a"]}, as_node="a")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_as_an_unknown_node(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": []})
    talk.update({"log": ["?"]}, as_node="nowhere")
    talk.state()


@case
def update_by_default_as_the_node_that_wrote_last(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_after=["b"])
    talk.invoke({"log": []})
    talk.update({"log": ["edited"]})
    talk.state()


@case
def update_is_ambiguous_after_parallel_nodes(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(api.START, "b")
    talk = kept(api, builder.add_edge(["a", "b"], "end"), interrupt_before=["end"])
    talk.invoke({"log": []})
    talk.update({"log": ["whose?"]})
    talk.update({"log": ["mine"]}, as_node="a")
    talk.state()


@case
def update_with_none(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.update(None)
    talk.state()
    talk.update(None, as_node="a")
    talk.state()
    talk.invoke(None)


@case
def update_as_the_end_clears_what_is_pending(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.update(None, as_node=api.END)
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_as_the_end_while_waiting(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.update(None, as_node=api.END)
    talk.state()


@case
def update_as_a_new_input(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []})
    talk.update({"log": ["fresh"]}, as_node="__input__")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_as_a_copy(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []})
    old = talk.history()[1]
    talk.update(None, at=old, as_node="__copy__")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_goes_through_reducers(api):
    talk = kept(api, api.StateGraph(Mixed).add_node("a", say("a")).add_edge(api.START, "a"))
    talk.invoke({"log": ["in"], "n": 1})
    talk.update({"log": ["added"], "n": 9})
    talk.state()
    talk.update({"log": api.Overwrite(["only"])})
    talk.state()


@case
def update_with_an_unknown_key(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": []})
    talk.update({"nonsense": 1})
    talk.state()


@case
def update_takes_the_conditional_edge_of_its_node(api):
    builder = graph_of(api, "a", "x", "y").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: s["log"][-1], ["x", "y"])
    talk = kept(api, builder)
    talk.update({"log": ["y"]}, as_node="a")
    talk.state()
    talk.invoke(None)


@case
def update_with_a_command(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.update(api.Command(update={"log": ["by command"]}, goto="c"), as_node="a")
    talk.state()


@case
def update_as_a_node_while_a_question_is_open(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_node("c", say("c"))
    talk = kept(api, builder.add_edge("a", "b").add_edge("b", "c"))
    talk.invoke({"log": []})
    talk.update({"log": ["instead"]}, as_node="b")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_while_a_question_is_open(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.update({"log": ["noted"]})
    talk.state()
    talk.invoke(None)
    talk.invoke(api.Command(resume="yes"))
    talk.history()


@case
def update_while_a_sibling_is_finished(api):
    calls = []

    def quick(state):
        calls.append(1)
        return {"log": ["quick"]}

    builder = line_of(api, "a").add_node("asks", ask(api, "?")).add_node("quick", quick)
    talk = kept(api, builder.add_edge("a", "asks").add_edge("a", "quick"))
    talk.invoke({"log": []})
    talk.update({"log": ["noted"]}, as_node="a")
    talk.state()
    talk.invoke(None)
    talk.invoke(api.Command(resume="yes"))
    api.note("calls", len(calls))


@case
def update_half_a_join(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(["a", "b"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.update({"log": ["b by hand"]}, as_node="b")
    talk.state()
    talk.invoke(None)


@case
def update_twice_and_go_on(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []})
    talk.update({"log": ["one"]}, as_node="a")
    talk.update({"log": ["two"]}, as_node="a")
    talk.state()
    talk.invoke(None)
    talk.state()


@case
def update_after_a_failure(api):
    broken = [True]

    def b(state):
        if broken:
            raise ValueError("broken")
        return {"log": ["b"]}

    builder = line_of(api, "a").add_node("b", b).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.update({"log": ["fix"]}, as_node="a")
    broken.clear()
    talk.invoke(None)
    talk.history()


@case
def update_without_a_checkpointer(api):
    api.talk(line_of(api, "a").compile()).update({"log": ["x"]})
    api.talk(line_of(api, "a").compile()).state()


@case
def bulk_updates_make_one_entry_each(api):
    talk = kept(api, line_of(api, "a", "b"))
    update = api.StateUpdate
    talk.bulk([[update({"log": ["x"]}, "a")], [update({"log": ["y"]}, "b")]])
    talk.history()


@case
def bulk_updates_side_by_side(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(api.START, "b")
    talk = kept(api, builder.add_edge(["a", "b"], "end"))
    update = api.StateUpdate
    talk.bulk([[update({"log": ["x"]}, "a"), update({"log": ["y"]}, "b")]])
    talk.state()
    talk.invoke(None)


@case
def bulk_updates_that_replay_a_conversation(api):
    talk = kept(api, line_of(api, "a", "b"))
    update = api.StateUpdate
    talk.bulk(
        [
            [update({"log": ["in"]}, "__input__")],
            [update({"log": ["in"]}, "__start__")],
            [update({"log": ["a"]}, "a")],
        ]
    )
    talk.history()
    talk.invoke(None)


@case
def bulk_updates_of_nothing(api):
    talk = kept(api, line_of(api, "a"))
    talk.bulk([])
    talk.bulk([[]])
