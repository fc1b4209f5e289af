"""The solver on many machines: layers in shards, which are files that all machines share.

A layer is cut into *shards*, equal ranges of its keys. Two tasks make everything, each of them a
function of files that are complete:

- forward, a shard takes its range of what the shards of earlier layers found, and writes its boards
  and, for each edge to a later layer, what they lead to;
- backward, a shard writes its values and answers the shards of earlier layers: the values, in their
  order, of those boards that they lead to.

So a task reads and writes long pieces of files in order, holds no more than its share of a layer,
and can be done again anywhere. What it writes is there as a whole or not at all. The values have
the same bits as those of `py2048.solving.solve`.
"""

from __future__ import annotations

import heapq
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from py2048.errors import SolvingError, os_errors_as
from py2048.rules import Rules, get_rules
from py2048.solving import _solver_kernels as kernels
from py2048.solving.files import (
    KEPT,
    Array,
    Keys,
    Values,
    claim,
    known_of,
    once,
    read_array,
    write_array,
)
from py2048.solving.goal import Goal, Problem
from py2048.solving.solution import LayerCount, Progress, Solution
from py2048.solving.solver import (
    DEFAULT_MEMORY,
    grown,
    rounding_error,
    start_keys,
)

BYTES_A_KEY = 128
"""A task takes no more bytes of memory, about, for each key that its shard is given."""

FEW = 1 << 16
"""How many keys are not worth a second shard."""

Task = Callable[[], Any]


class Workers(Protocol):
    """Processes that see the same files."""

    @property
    def width(self) -> int:
        """How many tasks they like to have at once."""
        ...

    def run(self, tasks: Sequence[Task], /) -> list[Any]:
        """Return the results of tasks, which can be pickled; a task that is lost is done again."""
        ...


def solve_sharded(
    workers: Workers,
    rules: Rules | str,
    goal: Goal | str = "score",
    *,
    save: Path | str,
    memory: int = DEFAULT_MEMORY,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Return the exact value of every position that play can reach, found by many processes.

    Args:
        workers: the processes.
        rules: as for `py2048.solving.solve`.
        goal: likewise.
        save: a file for the solution, in a folder that all workers share. What is done is kept
            beside it in a folder until it is complete: the same call continues what was stopped.
        memory: how many bytes a task uses, about.
        progress: called after each layer.

    Raises:
        RulesError: if `rules` are none.
        SolvingError: if they cannot be solved, or files cannot be written or are damaged.
    """
    folder = Path(f"{save}.unfinished").absolute()
    plan = Plan(str(get_rules(rules)), str(Goal.parse(goal)), folder)
    solver = _ShardedSolver(plan, workers, max(1, memory // BYTES_A_KEY), progress)
    solution = solver.run(memory // 4)
    try:
        solution.save(save)
    except SolvingError as error:
        raise SolvingError(f"{error}{KEPT}") from None
    shutil.rmtree(folder, ignore_errors=True)
    return Solution.load(save, memory=memory // 4)


# --- layers and what leads from one to another ---------------------------------------------------


class Layer(NamedTuple):
    """The boards of one sum ``before`` a move, or the afterstates, ``after`` it."""

    kind: str
    total: int


class Edge(NamedTuple):
    """A slide, which leads from ``before`` to ``after``, or the spawn of a tile, which leads on."""

    source: Layer
    target: Layer

    @property
    def tile(self) -> int:
        """The tile that appears, 0 for a slide."""
        return self.target.total - self.source.total


@dataclass(frozen=True)
class Plan:
    """What is solved, and where.

    Attributes:
        rules: the rules, as a text.
        goal: the goal, as a text.
        place: the folder that all machines share.
    """

    rules: str
    goal: str
    place: Path

    @property
    def folder(self) -> Path:
        """Where the files are.

        Raises:
            SolvingError: if the folder is not seen here.
        """
        if not self.place.is_dir():
            raise SolvingError(
                f"{self.place} is not there on {platform.node()}: save to a folder that all "
                "machines share"
            )
        return self.place

    @property
    def problem(self) -> Problem:
        """The problem, made once in each process."""
        return _problem(self.rules, self.goal)

    @property
    def width(self) -> int:
        """The bits of a key."""
        return 4 * self.problem.rules.cells

    def edges_from(self, layer: Layer) -> list[Edge]:
        """Return the edges to later layers."""
        if layer.kind == "before":
            return [Edge(layer, Layer("after", layer.total))]
        return [Edge(layer, Layer("before", layer.total + tile)) for tile in self._tiles]

    def edges_to(self, layer: Layer) -> list[Edge]:
        """Return the edges from earlier layers."""
        if layer.kind == "after":
            return [Edge(Layer("before", layer.total), layer)]
        return [Edge(Layer("after", layer.total - tile), layer) for tile in self._tiles]

    @property
    def _tiles(self) -> list[int]:
        """The tiles after which the game continues."""
        return [spawn.tile for spawn in self.problem.spawns if spawn.ends is None]


@cache
def _problem(rules: str, goal: str) -> Problem:
    return Problem(Rules.parse(rules), Goal.parse(goal))


# --- files ---------------------------------------------------------------------------------------

Name = tuple[str, int, int]
"""What a file holds, the sum of its layer, and the sum of the layer that it came from."""

_FILE = re.compile(r"(before|after|values|found|answers)-(\d+)-(\d+)-(\d+)of(\d+)-(\d+)-\w{8}")


def own(layer: Layer) -> Name:
    """Return the name of the keys of a layer."""
    return layer.kind, layer.total, layer.total


def values_of(layer: Layer) -> Name:
    """Return the name of the values of a layer."""
    return "values", layer.total, layer.total


def found_by(edge: Edge) -> Name:
    """Return the name of the keys to which an edge leads, in the shards of its source."""
    return "found", edge.target.total, edge.source.total


def answers_to(edge: Edge) -> Name:
    """Return the name of their values, in the shards of its target.

    Each file begins with the places, int64, where what belongs to each shard of the source begins.
    """
    return "answers", edge.target.total, edge.source.total


@dataclass(frozen=True)
class ShardFile:
    """The array of a shard, in a file; the file's name tells all this.

    Attributes:
        name: what it holds.
        shard: which shard it is.
        shards: how many there are.
        length: the length of the array.
        text: the file's name.
    """

    name: Name
    shard: int
    shards: int
    length: int
    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> ShardFile | None:
        """Return the file of this name, `None` if it is none of ours."""
        if (found := _FILE.fullmatch(text)) is None:
            return None
        total, source, shard, shards, length = map(int, found.groups()[1:6])
        return cls((found[1], total, source), shard, shards, length, text)

    @classmethod
    def write(cls, folder: Path, name: Name, shard: int, shards: int, array: Array) -> ShardFile:
        """Write an array, as a whole or not at all."""
        stem = f"{name[0]}-{name[1]}-{name[2]}-{shard}of{shards}"
        found = cls.parse(write_array(folder, stem, array).name)
        assert found is not None, "a file has the name that it was given"
        return found

    def read(self, folder: Path) -> Array:
        """Return the array."""
        return read_array(folder / str(self))

    def mapped(self, folder: Path) -> Array:
        """Return the array, of which only what is used is read, unchecked."""
        path = folder / str(self)
        with os_errors_as(SolvingError, str(path)):
            return np.memmap(path, np.uint64, "r") if self.length else np.empty(0, np.uint64)


class ShardFiles:
    """All files of a folder, as the driver knows them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Name, dict[int, ShardFile]] = {}
        with os_errors_as(SolvingError, str(folder)):
            found = [ShardFile.parse(path.name) for path in folder.iterdir()]
        self.add(file for file in found if file is not None)

    def add(self, files: Iterable[ShardFile]) -> None:
        """Take note of files that were written."""
        for file in files:
            self._files.setdefault(file.name, {})[file.shard] = file

    def of(self, name: Name) -> list[ShardFile]:
        """Return the files of a name that are there, by shard."""
        return [file for _, file in sorted(self._files.get(name, {}).items())]

    def shards(self, name: Name) -> int:
        """Return the number of shards that a name has, 0 if none is there."""
        return next((file.shards for file in self._files.get(name, {}).values()), 0)

    def missing(self, name: Name, shards: int) -> list[int]:
        """Return which of the shards are not there."""
        return [shard for shard in range(shards) if shard not in self._files.get(name, {})]

    def is_complete(self, name: Name) -> bool:
        """Return whether all shards are there."""
        return 0 < self.shards(name) == len(self._files[name])

    def length(self, name: Name) -> int:
        """Return the length of all shards together."""
        return sum(file.length for file in self.of(name))

    def drop(self, name: Name) -> None:
        """Remove files."""
        for file in self._files.pop(name, {}).values():
            (self._folder / str(file)).unlink(missing_ok=True)

    def get(self, name: tuple[str, int], /) -> Array:
        """Return a whole layer."""
        kind, total = name
        return np.concatenate([file.read(self._folder) for file in self.of((kind, total, total))])


# --- tasks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shard:
    """A shard of a layer.

    Attributes:
        layer: the layer.
        index: which shard it is.
        count: how many there are.
    """

    layer: Layer
    index: int
    count: int

    def cut(self, keys: Array, width: int) -> Keys:
        """Return those of ascending keys that belong to this shard."""
        low, high = ((k << width) // self.count for k in (self.index, self.index + 1))
        first = np.searchsorted(keys, np.uint64(low))
        is_last = self.index + 1 == self.count
        last = len(keys) if is_last else np.searchsorted(keys, np.uint64(high))
        return np.asarray(keys[first:last])


def find(plan: Plan, shard: Shard, sources: Sequence[ShardFile], starts: Keys) -> list[ShardFile]:
    """Write the keys of a shard, and before them those to which they lead."""
    arrays = [starts, *(file.mapped(plan.folder) for file in sources)]
    keys = once(np.concatenate([shard.cut(array, plan.width) for array in arrays]))
    files = [
        ShardFile.write(
            plan.folder, found_by(edge), shard.index, shard.count, successors(plan, edge, keys)
        )
        for edge in plan.edges_from(shard.layer)
    ]
    name = own(shard.layer)
    return [*files, ShardFile.write(plan.folder, name, shard.index, shard.count, keys)]


def successors(plan: Plan, edge: Edge, keys: Keys) -> Keys:
    """Return the keys to which an edge leads from keys."""
    problem, expand, room = plan.problem, kernels.slide_all, 4
    if edge.tile:
        rank = np.uint64(edge.tile.bit_length() - 1)
        expand, room = partial(kernels.spawn_all, rank), problem.rules.cells - 1
    parts = grown(keys, expand, room, problem.spec)
    return once(np.concatenate(parts)) if parts else np.empty(0, np.uint64)


def find_again(plan: Plan, edge: Edge, keys: ShardFile) -> list[ShardFile]:
    """Write the keys to which an edge leads from a shard."""
    found = successors(plan, edge, keys.read(plan.folder))
    return [ShardFile.write(plan.folder, found_by(edge), keys.shard, keys.shards, found)]


@dataclass(frozen=True)
class Exchange:
    """The files of an edge.

    Attributes:
        edge: the edge.
        found: the keys to which it leads: of all shards of its source, or of one.
        answers: their values, of all shards of its target.
    """

    edge: Edge
    found: Sequence[ShardFile]
    answers: Sequence[ShardFile] = ()


def evaluate(
    plan: Plan, keys: ShardFile, later: Sequence[Exchange], earlier: Sequence[Exchange]
) -> list[ShardFile]:
    """Write the answers to earlier shards, and then the values of a shard."""
    kind, total, _ = keys.name
    shard, boards = Shard(Layer(kind, total), keys.shard, keys.shards), keys.read(plan.folder)
    known = {each.edge.tile: answered(plan, shard, each) for each in later}
    values = np.empty(len(boards))
    if kind == "after":
        plan.problem.expect(boards, known.__getitem__, values)
    else:
        kernels.choose(boards, plan.problem.spec, known[0], values)
    files = [answer(plan, shard, boards, values, each) for each in earlier]
    if kind == "before":
        name = values_of(shard.layer)
        files.append(ShardFile.write(plan.folder, name, shard.index, shard.count, values))
    return files


def answered(plan: Plan, shard: Shard, exchange: Exchange) -> kernels.Known:
    """Return what an edge leads to from a shard, with its values."""
    (found,) = exchange.found
    parts = []
    for file in exchange.answers:
        array = file.mapped(plan.folder)
        first, last = array[shard.index : shard.index + 2].view(np.int64)
        parts.append(np.asarray(array[first:last]).view(np.float64))
    values = np.concatenate(parts) if parts else np.empty(0)
    if len(values) != found.length:
        raise SolvingError(f"answers to {plan.place / str(found)} are missing: remove the folder")
    return known_of(found.read(plan.folder), values, plan.width)


def answer(plan: Plan, shard: Shard, keys: Keys, values: Values, exchange: Exchange) -> ShardFile:
    """Write the values of those of a shard's keys to which the shards of a source lead."""
    wanted = [shard.cut(file.mapped(plan.folder), plan.width) for file in exchange.found]
    lengths = [len(wanted) + 1, *map(len, wanted)]
    places = np.cumsum(lengths, dtype=np.int64).view(np.uint64)
    parts = [values[np.searchsorted(keys, part)].view(np.uint64) for part in wanted]
    array = np.concatenate([places, *parts])
    return ShardFile.write(plan.folder, answers_to(exchange.edge), shard.index, shard.count, array)


class Count(NamedTuple):
    """What is counted of a shard: its boards with their images, and the largest absolute value."""

    boards: int
    largest: float


def count(plan: Plan, keys: ShardFile, values: ShardFile) -> Count:
    """Count the boards of a shard; its files are checked by it."""
    images, boards = np.empty(8, np.uint64), keys.read(plan.folder)
    largest = np.abs(values.read(plan.folder)).max(initial=0.0)
    return Count(int(kernels.count_images(boards, plan.problem.spec, images)), float(largest))


# --- the driver ----------------------------------------------------------------------------------


class _ShardedSolver:
    def __init__(
        self,
        plan: Plan,
        workers: Workers,
        most: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        _ = plan.problem  # raises
        claim(plan.place, {"rules": plan.rules, "goal": plan.goal})
        self._plan, self._workers, self._most, self._progress = plan, workers, most, progress
        self._files = ShardFiles(plan.folder)
        self._began = time.perf_counter()

    def run(self, memory: int) -> Solution:
        totals = self._find_all()
        self._evaluate_all(totals)
        counts, largest = self._count(totals)
        problem = self._plan.problem
        error = rounding_error(problem, len(totals), largest)
        seconds = time.perf_counter() - self._began
        return Solution(problem, self._files, counts, error, seconds, memory)

    # --- boards forward --------------------------------------------------------------------------

    def _find_all(self) -> list[int]:
        """Find the boards of every sum, and the afterstates; return the sums."""
        began, done = time.perf_counter(), 0
        starts, none = start_keys(self._plan.problem), np.empty(0, np.uint64)
        waiting, totals = sorted(starts), list[int]()
        while waiting:
            total = heapq.heappop(waiting)
            if totals and total == totals[-1]:
                continue
            before, after = Layer("before", total), Layer("after", total)
            self._find(before, starts.get(total, none))
            self._find(after, none)
            totals.append(total)
            if self._files.length(own(after)):
                for edge in self._plan.edges_from(after):
                    heapq.heappush(waiting, edge.target.total)
            done += self._files.length(own(before))
            self._tell("boards", total, done, 0, began)
        return totals

    def _find(self, layer: Layer, starts: Keys) -> None:
        files, name = self._files, own(layer)
        edges = self._plan.edges_to(layer)
        if not files.is_complete(name):
            sources = [file for edge in edges for file in files.of(found_by(edge))]
            shards = files.shards(name) or self._shards(sum(file.length for file in sources))
            missing = [Shard(layer, shard, shards) for shard in files.missing(name, shards)]
            self._run([partial(find, self._plan, shard, sources, starts) for shard in missing])
        for edge in edges:
            files.drop(found_by(edge))

    def _shards(self, keys: int) -> int:
        """Return into how many shards a layer is cut for which this many keys were found."""
        return max(-(-keys // self._most), min(self._workers.width, -(-keys // FEW)), 1)

    # --- values backward -------------------------------------------------------------------------

    def _evaluate_all(self, totals: Sequence[int]) -> None:
        began, done = time.perf_counter(), 0
        boards = sum(self._files.length(own(Layer("before", total))) for total in totals)
        layers = [Layer(kind, total) for total in reversed(totals) for kind in ("after", "before")]
        for layer, following in zip(layers, [*layers[1:], None], strict=True):
            self._evaluate(layer, following)
            if layer.kind == "before":
                done += self._files.length(own(layer))
                self._tell("values", layer.total, done, boards, began)

    def _evaluate(self, layer: Layer, following: Layer | None) -> None:
        """Find the values of a layer, and meanwhile what the one evaluated next is asked."""
        edges = self._plan.edges_from(layer)
        if not self._is_evaluated(layer):
            self._run(self._askings(edges + self._asking(layer)))
            asked = self._asking(following) if following else []
            self._run(self._evaluations(layer) + self._askings(asked))
        for edge in edges:
            self._files.drop(found_by(edge))
            self._files.drop(answers_to(edge))

    def _is_evaluated(self, layer: Layer) -> bool:
        """Return whether the values of a layer are there, and so were the answers to all."""
        if self._files.is_complete(values_of(Layer("before", layer.total))):
            return True
        # Those of afterstates are there as answers only, and as long as they are needed.
        slides = self._plan.edges_to(layer) if layer.kind == "after" else []
        return any(self._files.is_complete(answers_to(slide)) for slide in slides)

    def _asking(self, layer: Layer) -> list[Edge]:
        """Return the edges to a layer from those that are there."""
        return [edge for edge in self._plan.edges_to(layer) if self._files.of(own(edge.source))]

    def _askings(self, edges: Sequence[Edge]) -> list[Task]:
        """Return what finds again to what the edges lead, as far as it is not there."""
        return [
            partial(find_again, self._plan, edge, keys)
            for edge in edges
            for keys in self._files.of(own(edge.source))
            if keys.shard in self._files.missing(found_by(edge), keys.shards)
        ]

    def _evaluations(self, layer: Layer) -> list[Task]:
        """Return what evaluates the shards of a layer that are not yet done."""
        files, later = self._files, self._plan.edges_from(layer)
        asking = self._asking(layer)
        earlier = [Exchange(edge, files.of(found_by(edge))) for edge in asking]
        last = values_of(layer) if layer.kind == "before" else answers_to(asking[-1])
        done = {file.shard for file in files.of(last)}
        return [
            partial(
                evaluate,
                self._plan,
                keys,
                [
                    Exchange(
                        edge, [files.of(found_by(edge))[keys.shard]], files.of(answers_to(edge))
                    )
                    for edge in later
                ],
                earlier,
            )
            for keys in files.of(own(layer))
            if keys.shard not in done
        ]

    # --- both ------------------------------------------------------------------------------------

    def _run(self, tasks: Sequence[Task]) -> None:
        for files in self._workers.run(tasks):
            self._files.add(files)

    def _count(self, totals: Sequence[int]) -> tuple[list[LayerCount], float]:
        """Return the number of boards of each layer, and the largest value."""
        files = self._files
        layers = [Layer("before", total) for total in totals]
        pairs = [
            (layer, pair)
            for layer in layers
            for pair in zip(files.of(own(layer)), files.of(values_of(layer)), strict=True)
        ]
        tasks = [partial(count, self._plan, keys, values) for _, (keys, values) in pairs]
        boards, largest = dict.fromkeys(totals, 0), 0.0
        for (layer, _), found in zip(pairs, self._workers.run(tasks), strict=True):
            boards[layer.total] += found.boards
            largest = max(largest, found.largest)
        counts = [
            LayerCount(layer.total, files.length(own(layer)), boards[layer.total])
            for layer in layers
        ]
        return counts, largest

    def _tell(self, stage: str, total: int, done: int, all_: int, began: float) -> None:
        if self._progress is not None:
            self._progress(Progress(stage, total, done, all_, time.perf_counter() - began))
