"""Which graph a run belongs to: the thread's own, a subgraph node, or a graph called in a function.

Promises: a child run is recognised by the node it was called from; one that nothing names (a graph
built inside a function) is known from the moment it is entered.
Called by `engine.ledger` while it folds, and by `engine.snapshots`.
"""

from __future__ import annotations

from typing import Any

from caesura.core.journals import task_of
from caesura.core.plan import Plan, StateSpec
from caesura.core.view import RunView, ThreadView


class Family:
    """The plans of a thread's runs. Keeps what it found, as parents forget their tasks."""

    def __init__(self, root: Plan | None) -> None:
        self._root = root
        self._known: dict[int, Plan] = {}

    def learn(self, run_id: int, plan: Plan) -> None:
        self._known[run_id] = plan

    def plan(self, view: ThreadView, run: RunView) -> Plan | None:
        if run.id == 0:
            return self._root
        known = self._known.get(run.id)
        if known is None and run.parent is not None:
            known = self._search(view, run)
            if known is not None:
                self._known[run.id] = known
        return known

    def spec(self, view: ThreadView, run: RunView) -> StateSpec | None:
        plan = self.plan(view, run)
        return plan.state if plan is not None else None

    def _search(self, view: ThreadView, run: RunView) -> Plan | None:
        found = task_of(view, run)
        if found is None:
            return None
        parent, index = found
        parent_plan = self.plan(view, parent)
        if parent_plan is None:
            return None
        name = parent.tasks[index].node
        node = parent_plan.nodes.get(name)
        if node is not None and node.is_graph:
            return node.action.plan  # type: ignore[no-any-return]
        candidates: list[Any] = [
            g for g in parent_plan.children.get(name, ()) if g.plan.name == run.graph
        ]
        return candidates[0].plan if len(candidates) == 1 else None
