"""How submissions of qsan_qarut are checked."""
