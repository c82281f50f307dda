"""What the parts of the engine promise, one part at a time."""
