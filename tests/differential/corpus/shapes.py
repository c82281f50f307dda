"""The shapes of graphs: lines, branches, joins, loops, deferred nodes, limits."""

from typing import Any

from ..registry import case
from .states import Count, Log, graph_of, kept, line_of, say


@case
def one_node(api):
    graph = graph_of(api, "a").add_edge(api.START, "a").add_edge("a", api.END).compile()
    api.talk(graph, None).invoke({"log": ["in"]})


@case
def a_line_of_three_without_a_last_edge(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []})
    talk.state()
    talk.history()


@case
def add_sequence_names_nodes_from_functions(api):
    def first(state: Log):
        return {"log": ["first"]}

    def second(state: Log):
        return {"log": ["second"]}

    builder = api.StateGraph(Log).add_sequence([first, second, ("third", say("third"))])
    graph = builder.add_edge(api.START, "first").compile()
    api.talk(graph, None).stream({"log": []})


@case
def set_entry_point_and_finish_point(api):
    builder = graph_of(api, "a", "b")
    builder.set_entry_point("a")
    builder.add_edge("a", "b")
    builder.set_finish_point("b")
    api.talk(builder.compile(), None).stream({"log": []})


@case
def an_input_that_writes_nothing_still_starts_the_graph_if_it_has_a_known_key(api):
    talk = kept(api, graph_of(api, "a").add_edge(api.START, "a"))
    talk.invoke({"log": []})
    talk.history()


@case
def an_empty_input(api):
    talk = kept(api, graph_of(api, "a").add_edge(api.START, "a"))
    talk.invoke({})
    talk.state()


@case
def nodes_that_return_nothing_still_make_steps(api):
    def quiet(state: Log):
        return None

    builder = api.StateGraph(Log).add_node("a", quiet).add_node("b", quiet)
    talk = kept(api, builder.add_edge(api.START, "a").add_edge("a", "b"))
    talk.invoke({"log": ["in"]})
    talk.history()
    talk.stream({"log": ["again"]})


@case
def two_branches_side_by_side(api):
    builder = graph_of(api, "a", "b", "c")
    builder.add_edge(api.START, "a").add_edge(api.START, "b")
    builder.add_edge("a", "c").add_edge("b", "c")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.history()


@case
def next_of_branches_added_in_another_order(api):
    builder = graph_of(api, "b", "a").add_edge(api.START, "b").add_edge(api.START, "a")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    api.note("next", [shot.next for shot in talk.history()])


@case
def writes_are_applied_by_node_name_not_by_completion(api):
    builder = graph_of(api, "z", "m", "a")
    for name in ("z", "m", "a"):
        builder.add_edge(api.START, name)
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def branches_of_unequal_length_meet_twice_without_a_join(api):
    builder = graph_of(api, "a", "b1", "b2", "end")
    builder.add_edge(api.START, "a").add_edge("a", "end")
    builder.add_edge(api.START, "b1").add_edge("b1", "b2").add_edge("b2", "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.history()


@case
def a_join_of_two(api):
    builder = graph_of(api, "a", "b1", "b2", "end")
    builder.add_edge(api.START, "a").add_edge(api.START, "b1").add_edge("b1", "b2")
    builder.add_edge(["a", "b2"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.history()


@case
def a_join_of_three_in_one_step(api):
    builder = graph_of(api, "a", "b", "c", "end")
    for name in ("a", "b", "c"):
        builder.add_edge(api.START, name)
    builder.add_edge(["c", "a", "b"], "end")
    api.talk(builder.compile(), None).stream({"log": []}, together="abc")


@case
def a_join_whose_other_branch_never_comes(api):
    builder = graph_of(api, "a", "b", "end")
    builder.add_edge(api.START, "a").add_edge(["a", "b"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()


@case
def half_a_join_is_remembered_across_invocations(api):
    builder = graph_of(api, "a", "b", "end")
    builder.add_conditional_edges(
        api.START, lambda s: "a" if len(s["log"]) == 1 else "b", ["a", "b"]
    )
    builder.add_edge(["a", "b"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": ["1"]})
    talk.invoke({"log": ["2"]})
    talk.history()


@case
def a_join_inside_a_loop_fires_every_round(api):
    builder = graph_of(api, "fork", "a", "b", "join")
    builder.add_edge(api.START, "fork").add_edge("fork", "a").add_edge("fork", "b")
    builder.add_edge(["a", "b"], "join")
    builder.add_conditional_edges("join", lambda s: "fork" if len(s["log"]) < 9 else api.END)
    api.talk(builder.compile(), None).stream({"log": []}, together="ab")


@case
def two_joins_share_a_source(api):
    builder = graph_of(api, "a", "b", "c", "ab", "bc")
    for name in ("a", "b", "c"):
        builder.add_edge(api.START, name)
    builder.add_edge(["a", "b"], "ab").add_edge(["b", "c"], "bc")
    api.talk(builder.compile(), None).stream({"log": []}, together=("a", "b", "c", "ab", "bc"))


@case
def a_deferred_node_waits_for_the_long_branch(api):
    builder = graph_of(api, "a", "b1", "b2").add_node("last", say("last"), defer=True)
    builder.add_edge(api.START, "a").add_edge(api.START, "b1").add_edge("b1", "b2")
    builder.add_edge("a", "last").add_edge("b2", "last")
    talk = kept(api, builder)
    talk.stream({"log": []}, together=("a", "b1"))
    talk.history()


@case
def a_deferred_node_after_sends(api):
    builder = graph_of(api, "work").add_node("last", say("last"), defer=True)
    builder.add_conditional_edges(
        api.START, lambda s: [api.Send("work", {}), api.Send("work", {})], ["work"]
    )
    builder.add_edge("work", "last")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_deferred_join(api):
    builder = graph_of(api, "a", "b", "c1", "c2").add_node("last", say("last"), defer=True)
    for name in ("a", "b", "c1"):
        builder.add_edge(api.START, name)
    builder.add_edge("c1", "c2").add_edge(["a", "b"], "last")
    api.talk(builder.compile(), None).stream({"log": []}, together=("a", "b", "c1"))


def looping(api: Any, until: int) -> Any:
    def step(state: Count):
        return {"n": state["n"] + 1}

    builder = api.StateGraph(Count).add_node("step", step).add_edge(api.START, "step")
    builder.add_conditional_edges("step", lambda s: "step" if s["n"] < until else api.END)
    return builder


@case
def a_loop_ends_by_its_condition(api):
    talk = kept(api, looping(api, 3))
    talk.invoke({"n": 0})
    talk.history()


@case
def the_recursion_limit_stops_a_loop(api):
    talk = kept(api, looping(api, 100))
    talk.invoke({"n": 0}, config={"recursion_limit": 4})
    talk.state()


@case
def a_stopped_loop_stops_again_at_the_same_limit(api):
    talk = kept(api, looping(api, 100))
    talk.invoke({"n": 0}, config={"recursion_limit": 4})
    talk.invoke(None, config={"recursion_limit": 4})
    talk.state()


@case
def a_higher_recursion_limit_lets_a_stopped_loop_go_on(api):
    talk = kept(api, looping(api, 6))
    talk.invoke({"n": 0}, config={"recursion_limit": 4})
    talk.invoke(None, config={"recursion_limit": 20})
    talk.state()


@case
def the_recursion_limit_is_exactly_enough(api):
    talk = api.talk(looping(api, 4).compile(), None)
    talk.invoke({"n": 0}, config={"recursion_limit": 4})
    talk.invoke({"n": 0}, config={"recursion_limit": 3})


@case
def a_recursion_limit_of_zero(api):
    api.talk(looping(api, 4).compile(), None).invoke({"n": 0}, config={"recursion_limit": 0})


@case
def two_cycles_of_different_length(api):
    builder = graph_of(api, "a", "b", "c")
    builder.add_edge(api.START, "a").add_edge("a", "b")
    builder.add_conditional_edges("b", lambda s: "a" if len(s["log"]) < 4 else "c")
    builder.add_conditional_edges("c", lambda s: "a" if len(s["log"]) < 9 else api.END)
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_graph_without_an_entry(api):
    api.attempt("compile", lambda: graph_of(api, "a").compile() and "compiled")


@case
def an_edge_to_an_unknown_node(api):
    builder = graph_of(api, "a").add_edge(api.START, "a").add_edge("a", "nowhere")
    api.attempt("compile", lambda: builder.compile() and "compiled")


@case
def an_edge_out_of_the_end_or_into_the_start(api):
    api.attempt("edge", lambda: graph_of(api, "a").add_edge(api.END, "a") and "added")
    api.attempt("edge", lambda: graph_of(api, "a").add_edge("a", api.START) and "added")


@case
def a_node_name_used_twice_or_reserved(api):
    api.attempt("node", lambda: graph_of(api, "a").add_node("a", say("a")) and "added")
    api.attempt("node", lambda: graph_of(api, "a").add_node(api.END, say("a")) and "added")
    api.attempt("node", lambda: graph_of(api, "a").add_node("log", say("a")) and "added")


@case
def a_node_that_only_a_command_reaches_compiles(api):
    builder = graph_of(api, "lonely").add_node("a", lambda s: api.Command(goto="lonely"))
    api.talk(builder.add_edge(api.START, "a").compile(), None).stream({"log": []})
