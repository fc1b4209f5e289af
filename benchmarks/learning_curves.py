"""Measure how fast TD, DQN and MaskablePPO approach the known optimum of small boards.

Usage: learning_curves.py [BOARD…] [--learners td dqn ppo] [--minutes N] [--games N] [--seed N]

Each learner has N minutes on one core. It is evaluated seven times on the same games, each time
after twice as much training as before. Losses relative to perfect play are exact. The results are
written to ``results/learning-curves.md``.
"""

from __future__ import annotations

import argparse
from functools import cache, partial
from pathlib import Path

import learners
import numpy as np
from numpy.typing import NDArray

from py2048 import Board, get_rules
from py2048.engine.batch import BatchGames
from py2048.lab.commands.bench import processor
from py2048.players.solving import Solution, solve

NAMES = {"td": "TD (ours)", "dqn": "DQN", "ppo": "MaskablePPO"}
MARKS = 7
PAGE = Path(__file__).parent / "results" / "learning-curves.md"


class Judge:
    """Measures a policy's mean loss relative to perfect play.

    Args:
        solution: Perfect play.
        games: Number of games.
    """

    def __init__(self, solution: Solution, games: int) -> None:
        self._solution, self._games = solution, games
        self._losses = cache(self._losses_of)

    def __call__(self, policy: learners.Policy) -> tuple[float, float, float]:
        """Return the mean score, the mean regret per game and its standard error."""
        batch = BatchGames(self._solution.rules, self._games, seed=0, reset="disabled")
        regrets, actions = np.zeros(self._games), np.zeros(self._games, np.uint8)
        while (playing := np.flatnonzero(~batch.dones)).size:
            boards = batch.boards[playing]
            actions[playing] = policy(boards, batch.legal_mask[playing])
            for game, board in zip(playing, boards, strict=True):
                regrets[game] += self._losses(board.tobytes())[actions[game]]
            batch.step(actions)
        error = regrets.std(ddof=1) / self._games**0.5
        return float(batch.scores.mean()), float(regrets.mean()), float(error)

    def _losses_of(self, data: bytes) -> NDArray[np.float64]:
        ranks = np.frombuffer(data, np.uint8).reshape(self._solution.rules.shape)
        board = Board(np.where(ranks, 1 << ranks.astype(np.int64), 0).tolist())
        values = self._solution.move_values(board)
        losses = np.full(4, np.inf)
        for direction, value in values.items():
            losses[direction.value] = max(values.values()) - value
        return losses


def curve(learner: str, solution: Solution, wish: argparse.Namespace) -> list[str]:
    """Train a learner; return the table cells of its evaluations."""
    judge, cells = Judge(solution, wish.games), list[str]()

    def judged(policy: learners.Policy, seconds: float, moves: int) -> None:
        score, regret, error = judge(policy)
        cells.append(f"{regret / solution.value:.1%} ± {error / solution.value:.1%}, {moves:,}")
        print(
            f"{solution.rules.name} {learner} {seconds:.0f} s, {moves:,} moves: mean score "
            f"{score:,.1f}, regret {regret:,.1f} ± {error:,.1f}",
            flush=True,
        )

    budget = learners.Budget([60 * wish.minutes / 2**n for n in reversed(range(MARKS))], judged)
    train = learners.train_td if learner == "td" else partial(learners.train_sb3, learner)
    train(solution.rules, budget, seed=wish.seed)
    return cells


def table(board: str, wish: argparse.Namespace) -> str:
    """Return a board's section of the page."""
    solution = solve(get_rules(board))
    columns = [curve(learner, solution, wish) for learner in wish.learners]
    times = [f"{60 * wish.minutes / 2**n:.1f}" for n in reversed(range(MARKS))]
    head = ["seconds of one core", *(NAMES[learner] for learner in wish.learners)]
    rows = [head, ["--:"] * len(head), *zip(times, *columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    value = f"The optimum is {solution.value:,.3f} points."
    return "\n".join([f"## {board}\n\n{value}\n", *lines])


def main() -> None:
    """Train, evaluate and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", default=["2x3", "2x4"])
    parser.add_argument("--learners", nargs="+", default=[*NAMES], choices=NAMES)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    wish = parser.parse_args()
    page = (
        f"# Learning curves against the optimum\n\n`python benchmarks/learning_curves.py --minutes "
        f"{wish.minutes:g} --games {wish.games} --seed {wish.seed}`, on {processor()}; one run "
        "each.\n\nA cell has the mean regret of a game of the best moves so far, as a share of the "
        f"optimum, over {wish.games} games, and the moves made in training."
    )
    for board in wish.boards:
        page += f"\n\n{table(board, wish)}"
        PAGE.write_text(f"{page}\n", encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
