"""A deploy takes away the node in which a thread waits: an error with a way out, no silent end."""

from __future__ import annotations

import pytest

from caesura import interrupt
from caesura.errors import NodeVanished


def review(state):
    return {"notes": [f"review {interrupt('sure?')}"]}


def approval(state):
    return {"notes": [f"approval {interrupt('sure?')}"]}


def ship(state):
    return {"notes": ["shipped"]}


@pytest.fixture
def renamed(app):
    """Today's graph, while a thread waits in a node of yesterday's."""
    app.run(app.chain(review, ship), {})
    app.restart()
    return app.chain(approval, ship)


def test_an_answer_to_a_vanished_node_is_an_error_that_names_it(app, renamed):
    with pytest.raises(NodeVanished, match="'review'"):
        app.answer(renamed, "yes")


def test_going_on_in_a_vanished_node_is_an_error_that_names_it(app, renamed):
    with pytest.raises(NodeVanished, match="'review'"):
        app.go_on(renamed)


def test_the_error_says_the_ways_out(app, renamed):
    with pytest.raises(NodeVanished, match=r"(?s)back.*update_state"):
        app.answer(renamed, "yes")


def test_the_thread_still_waits_after_the_error(app, renamed):
    with pytest.raises(NodeVanished):
        app.answer(renamed, "yes")
    assert app.state(app.chain(review, ship)).next == ("review",)


def test_putting_the_node_back_lets_the_thread_go_on(app, renamed):
    with pytest.raises(NodeVanished):
        app.go_on(renamed)
    yesterdays = app.chain(review, ship)

    assert app.answer(yesterdays, "yes")["notes"] == ["review yes", "shipped"]


def test_moving_on_as_the_new_node_lets_the_thread_go_on(app, renamed):
    with pytest.raises(NodeVanished):
        app.go_on(renamed)
    app.update(renamed, None, as_node="approval")

    assert app.go_on(renamed)["notes"] == ["shipped"]


def test_a_held_node_that_vanished_is_an_error_too(app):
    app.run(app.chain(ship, review, interrupt_before=["review"]), {})
    app.restart()

    with pytest.raises(NodeVanished, match="'review'"):
        app.go_on(app.chain(ship, approval))


def test_a_vanished_node_beside_others_is_an_error_too(app):
    app.run(app.side_by_side(review, ship), {})
    app.restart()

    with pytest.raises(NodeVanished, match="'review'"):
        app.answer(app.side_by_side(approval, ship), "yes")
