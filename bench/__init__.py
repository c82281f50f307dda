"""How fast we are, beside LangGraph and beside what the machine allows, in one run.

Promises: both libraries run the same graph, on a saver of the same kind, with the same durability
and the same fsync setting, in interleaved rounds. Every figure stands next to its bound, and a
missed bound is printed as missed.
Does not promise: figures that can be compared between machines or days. Compare the ratios.
Run as `python -m bench`; `bench.measurements` lists what is measured and where to add to it.
"""
