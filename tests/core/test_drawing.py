"""What a drawing of a graph shows. The pictures here were written by hand."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from caesura.core.control import END, START
from caesura.core.draw import Drawing
from caesura.core.graph import GraphBuilder
from tests.core.graphs import Compiled, Log, graph_of, line_of, nothing, plan_of


def text(picture: str) -> str:
    return dedent(picture).lstrip("\n")


def support() -> GraphBuilder:
    """Classify, then one of three; a person may send it back."""
    builder = graph_of("classify", "refund", "ship", "ask").add_edge(START, "classify")
    builder.add_conditional_edges(
        "classify", lambda s: "money", {"money": "refund", "parcel": "ship", "other": "ask"}
    )
    builder.add_conditional_edges("ask", lambda s: "again", {"again": "classify", "stop": END})
    return builder.add_edge("refund", END).add_edge("ship", END)


def nested() -> GraphBuilder:
    """A line with a graph in it that has a graph in it."""
    middle = GraphBuilder(Log).add_node("inner", Compiled(line_of("i", "j")))
    middle.add_node("k", nothing).add_edge(START, "inner").add_edge("inner", "k")
    builder = GraphBuilder(Log).add_node("middle", Compiled(middle, name="billing"))
    return builder.add_node("z", nothing).add_edge(START, "middle").add_edge("middle", "z")


def drawn(builder: GraphBuilder, *, xray: bool | int = False, **options: object) -> Drawing:
    return Drawing.of(plan_of(builder, **options), xray)


def edges(drawing: Drawing) -> list[str]:
    """Each edge in a line: `a -> b`, `a ?> b: label` for conditional ones."""
    return [
        f"{e.source} {'?>' if e.conditional else '->'} {e.target}"
        + (f": {e.label}" * bool(e.label))
        for e in drawing.edges
    ]


# ------------------------------------------------------------------------------------- what is seen
def test_the_last_node_leads_to_the_end_also_without_an_edge() -> None:
    drawing = drawn(line_of("a", "b"))
    assert list(drawing.nodes) == [START, "a", "b", END]
    assert edges(drawing) == [f"{START} -> a", "a -> b", f"b -> {END}"]


def test_each_source_of_a_join_leads_to_it() -> None:
    builder = line_of("a").add_node("b", nothing).add_node("c", nothing).add_edge(START, "b")
    assert edges(drawn(builder.add_edge(["a", "b"], "c"))) == [
        f"{START} -> a", f"{START} -> b", "a -> c", "b -> c", f"c -> {END}",
    ]  # fmt: skip


def test_results_that_lead_to_one_node_share_an_edge_and_a_name_needs_no_label() -> None:
    builder = line_of("a").add_node("b", nothing)
    builder.add_conditional_edges("a", lambda s: 1, {1: "b", 2: "b", END: END})
    assert edges(drawn(builder))[1:3] == ["a ?> b: 1, 2", f"a ?> {END}"]


def test_a_conditional_edge_that_does_not_say_where_it_leads_leads_everywhere() -> None:
    builder = line_of("a").add_node("b", nothing, error_handler=nothing)
    builder.add_conditional_edges("a", lambda s: "b")
    assert edges(drawn(builder))[1:4] == ["a ?> a", "a ?> b", f"a ?> {END}"]


def test_destinations_of_commands_are_conditional_and_keep_their_labels() -> None:
    builder = graph_of("b", "c").add_node("a", nothing, destinations={"b": "yes", "c": "no"})
    assert edges(drawn(builder.add_edge(START, "a")))[-2:] == ["a ?> b: yes", "a ?> c: no"]


def test_an_error_handler_hangs_on_its_node() -> None:
    builder = GraphBuilder(Log).add_node("a", nothing, error_handler=nothing)
    drawing = drawn(builder.add_edge(START, "a"))
    assert drawing.nodes["__error_handler__a"].kind == "handler"
    assert "a ?> __error_handler__a: on error" in edges(drawing)
    assert f"a -> {END}" in edges(drawing)


def test_a_graph_that_never_ends_has_no_end() -> None:
    assert END not in drawn(line_of("a", "b").add_edge("b", "a")).nodes


def test_breakpoints_are_marked_on_their_nodes() -> None:
    drawing = drawn(line_of("a", "b"), interrupt_before=["a"], interrupt_after="*")
    assert drawing.nodes["a"].breakpoints == ("before", "after")
    assert drawing.nodes["b"].breakpoints == ("after",)


# --------------------------------------------------------------------------------------- subgraphs
def test_a_closed_subgraph_is_one_node_that_tells_its_name() -> None:
    node = drawn(nested()).nodes["middle"]
    assert (node.kind, node.subgraph) == ("graph", "billing")


@pytest.mark.parametrize(
    ("xray", "nodes"),
    [
        (0, ["middle", "z"]),
        (1, ["middle:inner", "middle:k", "z"]),
        (2, ["middle:inner:i", "middle:inner:j", "middle:k", "z"]),
        (True, ["middle:inner:i", "middle:inner:j", "middle:k", "z"]),
    ],
)
def test_xray_opens_subgraphs_as_deep_as_it_says(xray: int, nodes: list[str]) -> None:
    assert list(drawn(nested(), xray=xray).nodes) == [START, *nodes, END]


def test_edges_lead_into_an_opened_subgraph_and_out_of_it() -> None:
    assert edges(drawn(nested(), xray=True)) == [
        "middle:inner:i -> middle:inner:j",
        "middle:inner:j -> middle:k",
        f"{START} -> middle:inner:i",
        "middle:k -> z",
        f"z -> {END}",
    ]


def test_a_subgraph_that_begins_by_a_choice_keeps_its_own_start() -> None:
    child = graph_of("i", "j").set_conditional_entry_point(lambda s: "i", ["i", "j"])
    builder = GraphBuilder(Log).add_node("child", Compiled(child)).add_edge(START, "child")
    drawing = drawn(builder, xray=True)
    assert f"{START} -> child:{START}" in edges(drawing)
    assert f"child:{START} ?> child:i" in edges(drawing)
    assert f"child:{END} -> {END}" in edges(drawing)
    assert {edge.source for edge in drawing.edges} <= drawing.nodes.keys()
    assert {edge.target for edge in drawing.edges} <= drawing.nodes.keys()


# ---------------------------------------------------------------------------------------- pictures
def test_a_branching_graph_in_mermaid() -> None:
    assert drawn(support(), interrupt_before=["refund"]).draw_mermaid() == text("""
        flowchart TD
            __start__(["START"]):::start
            classify("classify")
            refund("refund<br/><small><i>pauses before</i></small>")
            ship("ship")
            ask("ask")
            __end__(["END"]):::end_
            __start__ --> classify
            classify -.->|"money"| refund
            classify -.->|"parcel"| ship
            classify -.->|"other"| ask
            refund --> __end__
            ship --> __end__
            ask -.->|"again"| classify
            ask -.->|"stop"| __end__
            classDef end_ fill:#bfb6fc,stroke:#8b7cf6
            classDef start fill:none,stroke:#8b7cf6
            classDef handler stroke-dasharray:4
        """)


def test_opened_subgraphs_in_mermaid() -> None:
    lines = drawn(nested(), xray=True).draw_mermaid().splitlines()
    assert "\n".join(lines[1:15]) + "\n" == (
        '    __start__(["START"]):::start\n'
        '    z("z")\n'
        '    __end__(["END"]):::end_\n'
        '    subgraph middle["middle"]\n'
        '        middle_k("k")\n'
        '        subgraph middle_inner["inner"]\n'
        '            middle_inner_i("i")\n'
        '            middle_inner_j("j")\n'
        "        end\n"
        "    end\n"
        "    middle_inner_i --> middle_inner_j\n"
        "    middle_inner_j --> middle_k\n"
        "    __start__ --> middle_inner_i\n"
        "    middle_k --> z\n"
    )


def test_mermaids_own_words_and_signs_do_no_harm_in_names() -> None:
    mermaid = drawn(line_of("end", 'say "hi" <b>', "say__hi___b_", "1st")).draw_mermaid()
    assert '    n_end("end")' in mermaid
    assert '    say__hi___b_("say #quot;hi#quot; #lt;b#gt;")' in mermaid
    assert '    say__hi___b__("say__hi___b_")' in mermaid
    assert '    n_1st("1st")' in mermaid


def test_a_branching_graph_in_lines_and_boxes() -> None:
    assert drawn(support()).draw_text() == text("""
                    ┌───────┐
                    │ START │
                    └───┬───┘
                        │
                        ▼
                   ┌──────────┐
                   │ classify │
                   └────┬─────┘
            ┌───────────┼──────────┐
            ▽           ▽          ▽
        ┌────────┐   ┌──────┐   ┌─────┐
        │ refund │   │ ship │   │ ask │
        └───┬────┘   └──┬───┘   └──┬──┘
            └───────────┼──────────┘
                        ▼
                     ┌─────┐
                     │ END │
                     └─────┘

        classify ┄┄▶ refund: money
        classify ┄┄▶ ship: parcel
        classify ┄┄▶ ask: other
        ask ┄┄▶ classify: again, back
        ask ┄┄▶ END: stop
        """)


def test_the_same_in_ascii() -> None:
    picture = drawn(line_of("a").add_node("lonely", nothing)).draw_ascii()
    assert picture == text("""
        +-------+
        | START |
        +---+---+
            |
            v
          +---+
          | a |
          +-+-+
            |
            v
         +-----+
         | END |
         +-----+

        No edge leads to: lonely
        """)
    assert picture.isascii()


def test_the_drawing_as_plain_data() -> None:
    builder = GraphBuilder(Log).add_node("a", nothing, metadata={"owner": "ana"})
    builder.add_edge(START, "a").add_conditional_edges("a", lambda s: END, {"done": END})
    data = drawn(builder, interrupt_before=["a"]).to_json()
    assert json.loads(json.dumps(data)) == data
    assert data["nodes"][1] == {
        "id": "a",
        "name": "a",
        "kind": "node",
        "metadata": {"owner": "ana"},
        "breakpoints": ["before"],
        "subgraph": None,
        "within": [],
    }
    assert data["edges"][1] == {
        "source": "a", "target": END, "conditional": True, "label": "done",
    }  # fmt: skip


# --------------------------------------------------------------------------------------- any graph
NAMES = "abcdefg"
PAIRS = st.lists(
    st.tuples(st.sampled_from([START, *NAMES]), st.sampled_from([*NAMES, END])), max_size=20
)


def graph_with(pairs: list[tuple[str, str]], **children: Compiled) -> GraphBuilder:
    """These edges between nodes, some of which are graphs."""
    builder = GraphBuilder(Log)
    for name in NAMES:
        builder.add_node(name, children.get(name, nothing))
    builder.add_edge(START, "a")
    for source, target in pairs:
        builder.add_edge(source, target)
    return builder


@given(PAIRS)
def test_any_graph_can_be_drawn_and_every_node_is_in_the_picture(
    pairs: list[tuple[str, str]],
) -> None:
    drawing = drawn(graph_with(pairs))
    boxes, _, alone = drawing.draw_text().partition("\nNo edge leads to: ")
    for name in NAMES:
        assert (f"│ {name} │" in boxes) != (name in alone.strip().split(", "))
    assert {(e.source, e.target) for e in drawing.edges} >= set(pairs)
    assert drawing.draw_mermaid().count("-->") == len(drawing.edges)


@given(PAIRS, PAIRS, PAIRS)
def test_edges_of_opened_subgraphs_join_nodes_that_are_drawn(
    outer: list[tuple[str, str]], middle: list[tuple[str, str]], inner: list[tuple[str, str]]
) -> None:
    child = Compiled(graph_with(middle, a=Compiled(graph_with(inner)), c=Compiled(line_of("x"))))
    drawing = drawn(graph_with(outer, b=child), xray=True)
    for edge in drawing.edges:
        assert {edge.source, edge.target} <= drawing.nodes.keys()
    for node in drawing.nodes.values():
        path, _, name = node.id.rpartition(":")
        assert (node.within[-1:], node.name) == (((path,) if path else ()), name)
    assert drawing.draw_text()
    assert drawing.draw_mermaid().count("subgraph ") == 3
