"""compile(debug=True) notices what a run would do and no log would know."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.errors import InvalidUpdateError
from tests.behaviour.both import App, Story


def scribble(state: Story) -> dict[str, Any]:
    state["notes"].append("in place")
    return {}


async def scribble_later(state: Story) -> dict[str, Any]:
    return scribble(state)


def well_behaved(state: Story) -> dict[str, Any]:
    return {"notes": [*state["notes"], "returned"]}


@pytest.mark.parametrize("node", [scribble, scribble_later])
def test_a_node_that_changes_the_state_in_place_is_told_so(app: App, node: Any) -> None:
    graph = app.chain(node, debug=True)
    with pytest.raises(InvalidUpdateError, match=r"'notes'.*return it"):
        app.run(graph, {"notes": ["given"]})


def test_what_it_did_is_not_kept(app: App) -> None:
    graph = app.chain(scribble, debug=True)
    with pytest.raises(InvalidUpdateError):
        app.run(graph, {"notes": ["given"]})
    assert app.state(graph).values["notes"] == ["given"]


def test_a_node_that_returns_its_update_is_not_disturbed(app: App) -> None:
    graph = app.chain(well_behaved, debug=True)
    assert app.run(graph, {"notes": ["given"]})["notes"] == ["given", "given", "returned"]
