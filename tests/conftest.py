"""What every test of the house shares: how hypothesis searches, and where peers are missing.

Promises: a failing example of hypothesis prints how to repeat it; CI searches the same examples
each time, so a red run there is red here too.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from hypothesis import HealthCheck, settings

settings.register_profile(
    "here",
    # Shared machines pause for longer than any deadline on an example.
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, database=None)
settings.register_profile("thorough", settings.get_profile("here"), max_examples=2000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if "CI" in os.environ else "here")
)

# The environments of the other interpreters hold no peers to compare with.
collect_ignore = [] if find_spec("langgraph") else ["differential"]
