"""What a search loses by the way it chooses which paths to follow.

Usage: search_shape.py [--games N] [--judge NODES] [--rules RULES] [--times SECONDS]

Positions are taken from games of ``expectimax:depth=2``. Each is searched, moves that lose costing
nothing more, with path costs that grow by half a bit until a search has rated NODES boards; its
values judge the moves of the others. For each way to count the cost of a path, and for the
deepening of a player, it prints the mean loss of a move, in points, at equal numbers of boards
rated. These numbers do not depend on the machine. With ``--times`` it prints instead how much of
its time a move takes on each board, from games of SECONDS of processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048 import Rules, get_rules
from py2048.core import rng
from py2048.core.game.turn import draw_start
from py2048.players.ntuple.heuristic import DEFAULT, Heuristic
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import shipped_network
from py2048.players.search import _expectimax_kernels as kernels
from py2048.players.search._expectimax_kernels import ALL, SearchParams
from py2048.players.search.context import COSTS_PER_BIT, LOSS_COST
from py2048.players.search.limits import MAX_DEPTH, UNLIMITED_NODES, SearchLimits
from py2048.players.search.searcher import MAX_MOVES_PER_CALL, Searcher

Evaluation = Network | Heuristic
COSTS = range(8, 100, 2)
APART = 100, 500
"""Moves between two positions of a game."""
AT = 300, 1000, 3000, 6000
"""Boards rated for a move at which losses are compared."""
BUDGETS = 450, 1500, 4500, 10_000
"""The most boards that the deepening rates for a move."""
SIZES = "2x4", "3x3", "3x4", "classic", "5x5", "6x6", "8x8"
TIMES = 0.05, 0.1, 1.0, 10.0
GAMES, LARGE, OPENING = 4, 25, 3000
"""The least number of games that share the seconds; on boards of that size they begin after those
moves."""


class Shape(NamedTuple):
    """How the cost of a path is counted, in bits.

    Attributes:
        cell: times the logarithm of the number of cells on which the tile may appear.
        four: for a 4.
        two: for a 2.
        move: for a move.
        loss: for a move that loses all points to come, in units of the kernels.
    """

    cell: float
    four: float
    two: float
    move: float
    loss: float


OURS = Shape(1.0, 3.32, 0.15, 1.0, LOSS_COST)
SURPRISE = OURS._replace(loss=0.0)
SHAPES = {
    "surprise, one bit a move, and loss": OURS,
    "a loss costs twice as much": OURS._replace(loss=2 * LOSS_COST),
    "a loss costs half": OURS._replace(loss=LOSS_COST / 2),
    "a loss costs nothing": SURPRISE,
    "nothing; half a bit for a move": SURPRISE._replace(move=0.5),
    "nothing; two bits for a move": SURPRISE._replace(move=2.0),
    "nothing; cells count half": SURPRISE._replace(cell=0.5),
    "nothing; a 4 costs two bits": SURPRISE._replace(four=2.0),
    "nothing; a 4 costs five bits": SURPRISE._replace(four=5.0),
    "nothing; the number of 4s and moves": Shape(0.0, 3.32, 0.0, 2.0, 0.0),
}


class Judged(NamedTuple):
    """Positions with the values of their moves, -inf for illegal ones.

    Attributes:
        cells: uint8 `[positions, cells]`.
        values: float64 `[positions, 4]`, of the longest search.
    """

    cells: NDArray[np.uint8]
    values: NDArray[np.float64]

    def loss(self, number: int, values: NDArray[np.float64]) -> float:
        """Return what is lost at a position by the move of the highest of other values."""
        return float(self.values[number].max() - self.values[number, values.argmax()])


def positions(rules_text: str, games: int) -> Iterator[NDArray[np.uint8]]:
    """Yield positions of games at depth 2, whose seeds are 1, 2, 3 and so on."""
    rules = get_rules(rules_text)
    player = Searcher(rules, shipped_network(rules) or DEFAULT, SearchLimits(2))
    apart = np.random.default_rng(1)
    for seed in range(1, games + 1):
        key, state = rng.key_of(seed), np.zeros(kernels.STATE, np.int64)
        cells = player.cells_of(draw_start(rules, key))
        while True:
            player.play_on(cells, state, key, int(apart.integers(*APART)))
            if state[kernels.OVER]:
                break
            yield cells.copy()


def search(
    searcher: Searcher, cells: NDArray[np.uint8], cost: int
) -> tuple[NDArray[np.float64], int, int]:
    """Return the values of a single search, how many boards it rated, and how often it was cut."""
    points, values = searcher.search_once(
        cells, SearchParams(ALL, MAX_DEPTH, cost, UNLIMITED_NODES)
    )
    context = searcher.workers[0].contexts[0]
    return (
        np.where(points >= 0, values, -np.inf),
        int(context.nodes),
        int(context.cuts),
    )


def judged(searcher: Searcher, cells: list[NDArray[np.uint8]], nodes: int) -> Judged:
    """Return the positions with the values of a long search."""
    values = []
    for board in cells:
        for cost in COSTS:
            found, rated, cuts = search(searcher, board, cost)
            if rated > nodes or not cuts:
                break
        values.append(found)
    return Judged(np.array(cells), np.array(values))


def set_shape(searcher: Searcher, shape: Shape) -> None:
    """Count costs of paths in another way."""
    context = searcher.workers[0].contexts[0]
    context.loss_cost, costs = shape.loss, context.costs
    spread = shape.cell * np.log2(np.maximum(np.arange(costs.shape[1]), 1))
    for number, tile in enumerate((shape.two, shape.four)):
        costs[number] = np.maximum(np.rint(COSTS_PER_BIT * (spread + tile + shape.move)), 1)


def by_cost(searcher: Searcher, known: Judged) -> list[tuple[float, float]]:
    """Return the mean boards rated, and the mean loss, for each greatest cost of a path."""
    curve = []
    for cost in COSTS[::2]:
        results = [search(searcher, board, cost) for board in known.cells]
        losses = [known.loss(number, values) for number, (values, *_) in enumerate(results)]
        curve.append((float(np.mean([rated for _, rated, _ in results])), float(np.mean(losses))))
        if curve[-1][0] > AT[-1]:
            break
    return curve


def by_budget(known: Judged, rules: Rules, evaluation: Evaluation) -> list[tuple[float, float]]:
    """Return the same for each budget of a deepening."""
    curve = []
    for budget in BUDGETS:
        searcher, nodes, losses = Searcher(rules, evaluation, SearchLimits(nodes=budget)), 0, []
        for number, board in enumerate(known.cells):
            points, values = searcher.rate_cells(board)
            nodes += searcher.nodes
            losses.append(known.loss(number, np.where(points >= 0, values, -np.inf)))
        curve.append((nodes / len(losses), float(np.mean(losses))))
    return curve


def show(name: str, curve: list[tuple[float, float]]) -> None:
    """Print the loss at the numbers of boards that are compared."""
    nodes, losses = np.array(curve).T
    found = np.interp(np.log(AT), np.log(nodes), losses, left=np.nan)
    at = "".join("        -" if np.isnan(loss) else f"{loss:9.1f}" for loss in found)
    print(f"{name:36}{at}", flush=True)


def taken(rules: Rules, ms: float, limit: float) -> float:
    """Return the processor time of a move, as a share of what it may take on average."""
    evaluation = shipped_network(rules) or DEFAULT
    searcher, lead = (
        Searcher(rules, evaluation, SearchLimits(**each)) for each in ({"ms": ms}, {"depth": 1})
    )
    searcher.prepare(plays=True)
    seconds, moves, seed = 0.0, 0, 0
    while seconds < limit:
        seed += 1
        key, state = rng.key_of(seed), np.zeros(kernels.STATE, np.int64)
        cells = searcher.cells_of(draw_start(rules, key))
        lead.play_on(cells, state, key, OPENING if rules.cells >= LARGE else 0)
        while not state[kernels.OVER] and seconds < limit * min(seed / GAMES, 1.0):
            start = time.thread_time()
            moves += len(searcher.play_on(cells, state, key, MAX_MOVES_PER_CALL))
            seconds += time.thread_time() - start
    return 1000 * seconds / moves / ms


def main() -> None:
    """Print the losses of every way, or the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=16)
    parser.add_argument("--judge", type=int, default=120_000, help="boards rated by the judge")
    parser.add_argument("--rules", default="classic")
    parser.add_argument(
        "--times", type=float, metavar="SECONDS", help="measure times, so long each"
    )
    wish = parser.parse_args()
    if wish.times:
        for size in SIZES:
            shares = [f"{taken(get_rules(size), ms, wish.times):.2f}" for ms in TIMES]
            print(f"| {' | '.join((size, *shares))} |", flush=True)
        return
    rules = get_rules(wish.rules)
    evaluation = shipped_network(rules) or DEFAULT
    searcher = Searcher(rules, evaluation, SearchLimits(MAX_DEPTH, nodes=UNLIMITED_NODES - 1))
    set_shape(searcher, SURPRISE)
    known = judged(searcher, list(positions(wish.rules, wish.games)), wish.judge)
    print(f"{len(known.cells)} positions, judged by searches of {wish.judge:,} boards or more")
    print(f"{'points lost by a move, at boards':36}" + "".join(f"{each:9,}" for each in AT))
    for name, shape in SHAPES.items():
        set_shape(searcher, shape)
        show(name, by_cost(searcher, known))
    show("the first, deepening", by_budget(known, rules, evaluation))


if __name__ == "__main__":
    main()
