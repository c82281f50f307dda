"""One corpus of small graphs, run on LangGraph and on Caesura; what a user sees must be the same."""
