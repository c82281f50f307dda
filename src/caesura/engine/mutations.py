"""compile(debug=True): notice nodes that change the state in place instead of returning updates.

Such a change is in the memory of one process and in no log: the run goes on with it, and the next
process does not know it. Looking for it costs a fingerprint of the whole state for every node, so
it is done where somebody asks for it. Used by `engine.tasks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesura.engine.fingerprint import fingerprint
from caesura.errors import InvalidUpdateError

if TYPE_CHECKING:
    from caesura.engine.scopes import Scope


class StateWatch:
    """The state as it was when a node began."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._values = scope.work.run.values
        self._before = self._prints()

    def _prints(self) -> dict[str, str]:
        registry = self._scope.work.call.ledger.codec.registry
        return {key: fingerprint(value, registry) for key, value in self._values.items()}

    def check(self) -> None:
        after = self._prints()
        changed = [key for key, seen in self._before.items() if after.get(key) != seen]
        if changed:
            raise InvalidUpdateError(
                f"While node {self._scope.node!r} ran, the state was changed in place, under "
                f"{', '.join(map(repr, changed))}. That change is in no log. Change a copy, and "
                f"return it: {{{changed[0]!r}: ...}}."
            )
