"""Run the benchmarks: every `benchmarks/bench_*.py`, or those whose names are given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


def main(names: list[str]) -> None:
    """Run each chosen benchmark in a process of its own and stop at the first that fails."""
    known = {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; known: {', '.join(known)}")
    for name in names or known:
        print(f"== {name}", flush=True)
        subprocess.run([sys.executable, known[name]], check=True)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
