"""Mutation testing: change single lines of code, and report changes that no test detects.

Usage: mutants.py PATH [--count N] [--seed N] [--tests TESTS…]

PATH is a module or folder below `src/py2048`. In a copy of the checkout, Cosmic Ray mutates a
random sample of N lines, one at a time. Each mutant is tested with the folder of `tests` that
mirrors PATH, or with the tests given by `--tests`. The script prints a diff of each mutant that
passes its tests.
"""

from __future__ import annotations

import argparse
import linecache
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = "ReplaceBinaryOperator_BitOr", "RemoveDecorator", "Variable", "Eq_Is"
"""Mutation operators that are not used: they mostly change annotations or caches."""
TRIVIAL = re.compile(r".*(cache\b|\*,)|@dataclass|if TYPE_CHECKING|[A-Z0-9_, ]+(: .+)? = ")
"""Lines that are not mutated, because a test could only repeat them."""
MIN_TIMEOUT_S = 60.0


def tests_beside(path: Path) -> list[str]:
    """Return the tests that mirror a path below `src/py2048`, or those of the nearest folder."""
    mirror = Path("tests", *path.relative_to("src/py2048").with_suffix("").parts)
    while not mirror.is_dir():
        mirror = mirror.parent
    return [str(mirror)]


def sample(path: Path, count: int, seed: int) -> list[MutationSpec]:
    """Return one mutant for each of `count` random lines."""
    database = WorkDB(":memory:", WorkDB.Mode.create)
    init([path] if path.is_file() else sorted(path.rglob("*.py")), database, {})
    by_line: dict[tuple[str, int], list[MutationSpec]] = defaultdict(list)
    for item in database.work_items:
        (mutation,) = item.mutations
        line = str(mutation.module_path), mutation.start_pos[0]
        is_skipped = any(name in mutation.operator_name for name in SKIPPED)
        if not is_skipped and not TRIVIAL.match(linecache.getline(*line)):
            by_line[line].append(mutation)
    draw = random.Random(seed)
    lines = draw.sample(sorted(by_line), min(count, len(by_line)))
    return [draw.choice(sorted(by_line[line], key=str)) for line in lines]


def survivors(path: Path, tests: Sequence[str], count: int, seed: int) -> list[str]:
    """Return diffs of the mutants that pass the tests.

    Raises:
        SystemExit: If the tests fail without a mutant.
    """
    options = f"-m pytest -q -x -p no:randomly -p no:cacheprovider {shlex.join(tests)}"
    source = Path("src").resolve()  # absolute, because tests start processes in other folders
    command = f"env PYTHONPATH={source} PYTHONDONTWRITEBYTECODE=1 {sys.executable} {options}"
    began = time.monotonic()
    if subprocess.run(shlex.split(command), check=False).returncode:
        sys.exit(f"the tests of {path} fail without a mutant: {command}")
    timeout_s = MIN_TIMEOUT_S + 3 * (time.monotonic() - began)
    found = []
    for number, mutation in enumerate(sample(path, count, seed), 1):
        result = mutate_and_test([mutation], command, timeout_s)
        place = f"{mutation.module_path}:{mutation.start_pos[0]}"
        print(f"{number:3} {result.test_outcome} {place} {mutation.operator_name}", flush=True)
        if result.test_outcome is TestOutcome.SURVIVED:
            found.append(result.diff)
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a module or folder, such as src/py2048/core")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", help="test files or folders")
    options = parser.parse_args()
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name in filter(None, listed.split("\0")):
            if not name.startswith(("weights/", "docs/images")):
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, name)
        tests = options.tests or tests_beside(options.path)
        living = survivors(options.path, tests, options.count, options.seed)
    print(*living, sep="\n\n")
    print(f"{len(living)} of {options.count} mutants of {options.path} survive {shlex.join(tests)}")


if __name__ == "__main__":
    main()
