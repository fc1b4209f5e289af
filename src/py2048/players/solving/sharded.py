"""Distributed solver, which splits layers into shards on a shared file system.

The keys of a layer are split into equal ranges, called *shards*. The solver runs two kinds of
tasks, which only read complete files.

A forward task collects a shard's boards from the successor files of earlier layers, and writes the
boards and their own successors.

A backward task computes the values of a shard's boards. It also writes *answers* files, from which
the tasks of earlier layers read the values that they need.

Tasks read and write files sequentially, keep only one shard in memory, and can be retried on any
machine of the pool. Files are written atomically. The values are bit-for-bit identical to those of
`py2048.players.solving.solve`.

The name of a file contains its kind, its shard and the number of shards:
``before-12-0of3-LENGTH-CHECKSUM``.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from py2048.core.errors import SolvingError, os_errors_as
from py2048.core.rules import Rules, get_rules
from py2048.players.solving import _solver_kernels as kernels
from py2048.players.solving.files import (
    Array,
    Keys,
    Values,
    claim,
    length_of,
    lookup_of,
    read_array,
    sorted_unique,
    write_array,
)
from py2048.players.solving.goal import Goal, Problem
from py2048.players.solving.solution import LayerCount, Solution, SolvingProgress
from py2048.players.solving.solver import (
    DEFAULT_MEMORY,
    LayerLoops,
    expanded,
    save_and_reload,
    start_keys,
)

BYTES_PER_KEY = 128
"""Approximate memory that a task needs per key in its shard, in bytes."""

MIN_SHARD_KEYS = 1 << 16
"""Layers with fewer keys than this limit are not split."""

Task = Callable[[], Any]


class Workers(Protocol):
    """A pool of processes that share a file system."""

    @property
    def width(self) -> int:
        """Number of tasks the pool can run at once."""
        ...

    def run(self, tasks: Sequence[Task], /) -> list[Any]:
        """Run picklable tasks and return the results; retry the task of a process that dies."""
        ...


def solve_sharded(
    workers: Workers,
    rules: Rules | str,
    goal: Goal | str = "score",
    *,
    save: Path | str,
    memory: int = DEFAULT_MEMORY,
    progress: Callable[[SolvingProgress], None] | None = None,
) -> Solution:
    """Compute the exact value of every reachable position with many processes.

    Args:
        workers: Pool of processes.
        rules: See `py2048.players.solving.solve`.
        goal: See `py2048.players.solving.solve`.
        save: File for the solution, in a folder that all workers share. Finished shards are kept in
            a folder next to this file until the file is complete. Repeating the call resumes an
            interrupted run.
        memory: Approximate memory limit per task in bytes.
        progress: Called after each layer.

    Raises:
        RulesError: If `rules` are invalid.
        SolvingError: If the problem cannot be solved, or files cannot be written or are damaged.
    """
    folder = Path(f"{save}.unfinished").absolute()
    plan = Plan(str(get_rules(rules)), str(Goal.parse(goal)), folder)
    _ = plan.problem  # raises before files are created
    claim(folder, {"rules": plan.rules, "goal": plan.goal})
    max_keys = max(1, memory // BYTES_PER_KEY)
    solution = _ShardedSolver(plan, workers, max_keys, LayerLoops(progress)).run()
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    return save_and_reload(solution, save, memory, remove)


# --- layers and what leads from one to another ---------------------------------------------------


class LayerName(NamedTuple):
    """All boards with the same sum (``before`` a move), or all afterstates (``after`` a move)."""

    kind: str
    total: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.total}"


class Edge(NamedTuple):
    """A transition between two layers: either a slide or the spawn of a tile."""

    source: LayerName
    target: LayerName

    @property
    def tile(self) -> int:
        """Tile that spawns in this transition, or 0 if the transition is a slide."""
        return self.target.total - self.source.total

    @property
    def found(self) -> str:
        """Base name of the files with the keys of successors. Each source shard writes one file."""
        return f"found-{self.target.total}-{self.source.total}"

    @property
    def answers(self) -> str:
        """Base name of the files with the values of successors. Each target shard writes one file.

        Each file starts with int64 offsets, which locate the values that each source shard needs.
        """
        return f"answers-{self.target.total}-{self.source.total}"


@dataclass(frozen=True)
class Plan:
    """The problem to solve and the shared folder, as a picklable object.

    Attributes:
        rules: Rules as a string.
        goal: Goal as a string.
        place: Folder that all machines share.
    """

    rules: str
    goal: str
    place: Path

    @property
    def folder(self) -> Path:
        """The shared folder.

        Raises:
            SolvingError: If this machine cannot access the folder.
        """
        if not self.place.is_dir():
            raise SolvingError(
                f"{self.place} does not exist on {platform.node()}: save to a folder that all "
                "machines share"
            )
        return self.place

    @property
    def problem(self) -> Problem:
        """The problem, built once per process."""
        return _problem(self.rules, self.goal)

    @property
    def width(self) -> int:
        """Number of bits of a key."""
        return 4 * self.problem.rules.cells

    def edges_from(self, layer: LayerName) -> list[Edge]:
        """Return the edges to later layers."""
        if layer.kind == "before":
            return [Edge(layer, LayerName("after", layer.total))]
        return [Edge(layer, LayerName("before", layer.total + tile)) for tile in self.problem.tiles]

    def edges_to(self, layer: LayerName) -> list[Edge]:
        """Return the edges from earlier layers."""
        if layer.kind == "after":
            return [Edge(LayerName("before", layer.total), layer)]
        return [Edge(LayerName("after", layer.total - tile), layer) for tile in self.problem.tiles]


@cache
def _problem(rules: str, goal: str) -> Problem:
    return Problem(Rules.parse(rules), Goal.parse(goal))


# --- tasks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shard:
    """One of the equal parts into which a layer is split.

    Attributes:
        layer: The layer.
        index: Number of this shard.
        count: Number of shards.
    """

    layer: LayerName
    index: int
    count: int

    def cut(self, keys: Array, width: int) -> Keys:
        """Return this shard's part of a sorted array of keys."""
        low, high = ((k << width) // self.count for k in (self.index, self.index + 1))
        first = np.searchsorted(keys, np.uint64(low))
        is_last = self.index + 1 == self.count
        last = len(keys) if is_last else np.searchsorted(keys, np.uint64(high))
        return np.asarray(keys[first:last])

    def write(self, plan: Plan, name: str, array: Array) -> Path:
        """Write an array of the shard atomically."""
        return write_array(plan.folder, f"{name}-{self.index}of{self.count}", array)


def mapped(path: Path) -> Array:
    """Memory-map the array in a file without verifying the checksum."""
    with os_errors_as(SolvingError, str(path)):
        return np.memmap(path, np.uint64, "r") if length_of(path) else np.empty(0, np.uint64)


def find(plan: Plan, shard: Shard, sources: Sequence[Path], starts: Keys) -> list[Path]:
    """Run a forward task: write the keys of a shard's boards and of their successors."""
    arrays = [starts, *map(mapped, sources)]
    keys = sorted_unique(np.concatenate([shard.cut(array, plan.width) for array in arrays]))
    edges = plan.edges_from(shard.layer)
    files = [shard.write(plan, edge.found, successors(plan, edge, keys)) for edge in edges]
    return [*files, shard.write(plan, str(shard.layer), keys)]


def successors(plan: Plan, edge: Edge, keys: Keys) -> Keys:
    """Return the keys of all boards that a slide or a spawn can reach."""
    problem, expand, room = plan.problem, kernels.slide_all, 4
    if edge.tile:
        rank = np.uint64(edge.tile.bit_length() - 1)
        expand, room = partial(kernels.spawn_all, rank), problem.rules.cells - 1
    parts = expanded(keys, expand, room, problem.spec)
    return sorted_unique(np.concatenate(parts)) if parts else np.empty(0, np.uint64)


def find_again(plan: Plan, shard: Shard, edge: Edge, keys: Path) -> list[Path]:
    """Write a shard's successors again, because their file is missing."""
    return [shard.write(plan, edge.found, successors(plan, edge, read_array(keys)))]


def evaluate(
    plan: Plan,
    shard: Shard,
    keys: Path,
    later: Mapping[int, tuple[Path, Sequence[Path]]],
    earlier: Mapping[Edge, Sequence[Path]],
) -> list[Path]:
    """Run a backward task: write a shard's values and its answers files.

    Args:
        plan: The problem to solve and the folder that all processes share.
        shard: The shard.
        keys: File with the shard's keys.
        later: The shard's file of successors, and the files with their values, for each spawned
            tile (0 for a slide).
        earlier: For each edge into this layer, the successor files of the earlier layer.
    """
    boards = read_array(keys)
    known = {tile: successor_values(plan, shard, *files) for tile, files in later.items()}
    values = np.empty(len(boards))
    if shard.layer.kind == "after":
        plan.problem.expect(boards, known.__getitem__, values)
    else:
        kernels.choose(boards, plan.problem.spec, known[0], values)
    files = [
        shard.write(plan, edge.answers, answers_for(plan, shard, boards, values, found))
        for edge, found in earlier.items()
    ]
    if shard.layer.kind == "before":
        files.append(shard.write(plan, f"values-{shard.layer.total}", values))
    return files


def successor_values(
    plan: Plan, shard: Shard, found: Path, answers: Sequence[Path]
) -> kernels.Lookup:
    """Return a lookup table with the values of a shard's successors."""
    parts = [np.empty(0)]
    for array in map(mapped, answers):
        first, last = array[shard.index : shard.index + 2].view(np.int64)
        parts.append(np.asarray(array[first:last]).view(np.float64))
    values = np.concatenate(parts)
    if len(values) != length_of(found):
        raise SolvingError(f"answers to {found} are missing: remove the folder")
    return lookup_of(read_array(found), values, plan.width)


def answers_for(
    plan: Plan, shard: Shard, keys: Keys, values: Values, found: Sequence[Path]
) -> Array:
    """Return the contents of an answers file."""
    wanted = [shard.cut(array, plan.width) for array in map(mapped, found)]
    lengths = [len(wanted) + 1, *map(len, wanted)]
    places = np.cumsum(lengths, dtype=np.int64).view(np.uint64)
    parts = [values[np.searchsorted(keys, part)].view(np.uint64) for part in wanted]
    return np.concatenate([places, *parts])


def count(plan: Plan, keys: Path, values: Path) -> tuple[int, float]:
    """Verify a shard; return the number of its boards and the largest absolute value.

    Symmetric boards are counted separately.
    """
    images, boards = np.empty(8, np.uint64), read_array(keys)
    largest = np.abs(read_array(values)).max(initial=0.0)
    return int(kernels.count_images(boards, plan.problem.spec, images)), float(largest)


# --- the driver ----------------------------------------------------------------------------------

_FILE = re.compile(r"((?:before|after|values|found|answers)[-\d]+)-(\d+)of(\d+)-\d+-\w{8}")


class ShardFiles:
    """Keeps track of which shards already have files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._shards: dict[str, list[Path | None]] = {}
        with os_errors_as(SolvingError, str(folder)):
            self.add(folder.iterdir())

    def add(self, paths: Iterable[Path]) -> None:
        """Add files to the index."""
        for path in paths:
            if found := _FILE.fullmatch(path.name):
                self._shards.setdefault(found[1], [None] * int(found[3]))[int(found[2])] = path

    def of(self, name: str) -> list[Path]:
        """Return the existing files with this name, in shard order."""
        return [path for path in self._shards.get(name, []) if path is not None]

    def shards(self, name: str) -> int:
        """Return the number of shards of the array `name`, or 0 if there are no files."""
        return len(self._shards.get(name, []))

    def missing(self, name: str, shards: int) -> list[int]:
        """Return the indices of the shards whose files are missing."""
        there = self._shards.get(name, [None] * shards)
        return [shard for shard in range(shards) if there[shard] is None]

    def is_complete(self, name: str) -> bool:
        """Return whether all shards exist."""
        return name in self._shards and None not in self._shards[name]

    def length(self, name: str) -> int:
        """Return the length of an array, added up over all of its shards."""
        return sum(map(length_of, self.of(name)))

    def drop(self, name: str) -> None:
        """Delete all files with a name."""
        for path in self.of(name):
            path.unlink(missing_ok=True)
        self._shards.pop(name, None)

    def get(self, name: tuple[str, int], /) -> Array:
        """Return a whole layer."""
        return np.concatenate([read_array(path) for path in self.of("{}-{}".format(*name))])


class _ShardedSolver:
    def __init__(self, plan: Plan, workers: Workers, max_keys: int, loops: LayerLoops) -> None:
        self._plan, self._workers, self._max_keys, self._loops = plan, workers, max_keys, loops
        self._files = ShardFiles(plan.folder)

    def run(self) -> Solution:
        problem = self._plan.problem
        starts = start_keys(problem)
        totals = self._loops.forward(problem, starts, partial(self._find_both, starts))
        for total in self._loops.backward(totals[::-1], self._boards):
            self._evaluate(LayerName("after", total))
            self._evaluate(LayerName("before", total))
        return self._loops.solution(problem, self._files, *self._count(totals))

    def _boards(self, total: int) -> int:
        """Return the number of boards with this tile sum."""
        return self._files.length(f"before-{total}")

    # --- boards forward --------------------------------------------------------------------------

    def _find_both(self, starts: Mapping[int, Keys], total: int) -> tuple[int, int]:
        """Find all boards and afterstates with this tile sum; return how many of each exist."""
        none = np.empty(0, np.uint64)
        self._find(LayerName("before", total), starts.get(total, none))
        self._find(LayerName("after", total), none)
        return self._boards(total), self._files.length(f"after-{total}")

    def _find(self, layer: LayerName, starts: Keys) -> None:
        files, name = self._files, str(layer)
        edges = self._plan.edges_to(layer)
        if not files.is_complete(name):
            sources = [path for edge in edges for path in files.of(edge.found)]
            shards = files.shards(name) or self._shards(sum(map(length_of, sources)))
            missing = [Shard(layer, shard, shards) for shard in files.missing(name, shards)]
            self._run([partial(find, self._plan, shard, sources, starts) for shard in missing])
        for edge in edges:
            files.drop(edge.found)

    def _shards(self, keys: int) -> int:
        """Return the number of shards for a layer with this many keys."""
        by_width = min(self._workers.width, -(-keys // MIN_SHARD_KEYS))
        return max(-(-keys // self._max_keys), by_width, 1)

    # --- values backward -------------------------------------------------------------------------

    def _evaluate(self, layer: LayerName) -> None:
        """Compute a layer's values, unless they have already been written."""
        files, edges = self._files, self._plan.edges_from(layer)
        asking = [edge for edge in self._plan.edges_to(layer) if files.of(str(edge.source))]
        # Values of afterstates are stored only in answers files, which are deleted after use.
        ends = [f"values-{layer.total}", *(edge.answers for edge in asking if not edge.tile)]
        if not any(map(files.is_complete, ends)):
            self._run([task for edge in edges + asking for task in self._missing_successors(edge)])
            self._run(self._evaluations(layer, edges, asking, ends[-1]))
        for edge in edges:
            files.drop(edge.found)
            files.drop(edge.answers)

    def _missing_successors(self, edge: Edge) -> list[Task]:
        """Return tasks that write missing successor files again."""
        keys = self._files.of(str(edge.source))
        return [
            partial(find_again, self._plan, Shard(edge.source, at, len(keys)), edge, keys[at])
            for at in self._files.missing(edge.found, len(keys))
        ]

    def _evaluations(
        self, layer: LayerName, edges: Sequence[Edge], asking: Sequence[Edge], last: str
    ) -> list[Task]:
        """Return a backward task for each shard that still lacks results."""
        files, keys = self._files, self._files.of(str(layer))
        earlier = {edge: files.of(edge.found) for edge in asking}
        return [
            partial(
                evaluate,
                self._plan,
                Shard(layer, at, len(keys)),
                keys[at],
                {e.tile: (files.of(e.found)[at], files.of(e.answers)) for e in edges},
                earlier,
            )
            for at in files.missing(last, len(keys))
        ]

    # --- both ------------------------------------------------------------------------------------

    def _run(self, tasks: Sequence[Task]) -> None:
        for paths in self._workers.run(tasks):
            self._files.add(paths)

    def _count(self, totals: Sequence[int]) -> tuple[list[LayerCount], float]:
        """Count the boards in each layer; also return the largest absolute value of a board."""
        files, counts, largest = self._files, list[LayerCount](), 0.0
        pairs = [
            list(zip(files.of(f"before-{total}"), files.of(f"values-{total}"), strict=True))
            for total in totals
        ]
        tasks = [partial(count, self._plan, *pair) for layer in pairs for pair in layer]
        results = iter(self._workers.run(tasks))
        for total, layer in zip(totals, pairs, strict=True):
            found = [next(results) for _ in layer]
            boards = sum(boards for boards, _ in found)
            counts.append(LayerCount(total, self._boards(total), boards))
            largest = max(largest, *(value for _, value in found))
        return counts, largest
