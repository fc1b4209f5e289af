"""A fake reviewer for tests of the queue."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

SUMMARY = {
    "judge": "stand-in", "unit": "points", "exact": True, "reviewed": 1, "accuracy": 50.0,
    "expected": 9.5, "most": 9.0, "loss": 2.0, "luck": 1.5, "swing": 1.0,
    "counts": dict.fromkeys(("best", "good", "inaccuracy", "mistake", "blunder"), 1),
    "phases": [], "mistakes": [], "graph": "<svg></svg>",
}  # fmt: skip
WORTH = {"left": 2.0, "right": 0.0}
MOVES = [[1, "left", "right", 2.0, "blunder", 9.0, WORTH, 0.2, "", "", "other"]]


def stand_in(folder: Path, record: str, note: Callable[[int], None]) -> dict[str, object]:
    """Log the call, and hang or crash if the test's folder says so."""
    with (folder / "runs").open("a") as runs:
        print(json.loads(record)["score"], file=runs)
    mine = folder / f"running {os.getpid()}"
    mine.touch()
    with (folder / "at once").open("a") as counts:
        print(len(list(folder.glob("running *"))), file=counts)
    note(1)
    while (folder / "hang").exists():
        time.sleep(0.05)
    mine.unlink()
    if (folder / "crash").exists():
        sys.exit("this is said to those who run the server")
    return {"summary": SUMMARY, "moves": MOVES}
