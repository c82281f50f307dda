"""The scripts. Importing this package registers every case.

No module here postpones annotations: scripts define their states locally, and both libraries look
up the types of a node's parameters by name.
"""

from . import (  # noqa: F401
    breakpoints,
    failures,
    functional,
    questions,
    routing,
    running,
    shapes,
    state_forms,
    streams,
    subgraphs,
    time_travel,
    updates,
)
