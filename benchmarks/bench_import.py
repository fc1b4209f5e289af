"""How long a user waits for `import py2048` and for the command's first answer."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
COMMANDS = {
    "an empty Python": [sys.executable, "-c", "pass"],
    "import py2048": [sys.executable, "-c", "import py2048"],
    "py2048 --version": [sys.executable, "-m", "py2048", "--version"],
}


def seconds(command: list[str]) -> float:
    """Return how long one run of `command` takes, start of the interpreter included."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print the median and the fastest run of each command in milliseconds."""
    print(f"{'':<20}{'median':>10}{'fastest':>10}")
    for name, command in COMMANDS.items():
        seconds(command)  # the first run compiles bytecode and warms the disk's cache
        times = [1000 * seconds(command) for _ in range(RUNS)]
        print(f"{name:<20}{statistics.median(times):>7.1f} ms{min(times):>7.1f} ms")


if __name__ == "__main__":
    main()
