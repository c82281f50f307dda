"""Where Caesura means to differ from LangGraph, and why.

Promises: every difference that the tests accept stands here with its reason; whatever is not listed
must be equal. Does not promise: that LangGraph is wrong; only that we decided otherwise.
Called by `test_differential`.
"""

from __future__ import annotations

from .intended_answers import ANSWERS
from .intended_changes import Intended as Intended
from .intended_running import RUNNING
from .intended_state import STATE

INTENDED: dict[str, Intended] = {
    **ANSWERS,
    **RUNNING,
    **STATE,
}
