"""Mine the puzzles of `py2048.review.puzzles` from games, and rate them.

Usage: mine_puzzles.py [LOG] [--solution FILE] [--scale X] [--write]

Each searched game is appended to LOG together with the positions found in it, and the same command
resumes an interrupted run. A complete log gives the same pack on every machine. --write writes the
pack to the package. Without LOG, the existing puzzles are rated again.

Positions come from games by players of all strengths, with some random moves. A position is kept if
every move except the best loses at least the fraction `CLEAR` of the best move's value. On 3x3 the
values come from the exact solution (--solution, from py2048 solve 3x3 -o FILE). On other boards,
the values come from the deepest expectimax search with the network.

The best move must be confirmed. Expectimax must choose it at all depths in `DEPTHS`, and it must
score best when the network plays on from the position (`is_best_by_play`). If the data folder
contains an endgame table for the position, the table must agree. The shipped pack was checked with
the tables L3-256, 442-256 and 442-64. The pack records the weights with which it was mined. If the
weights change, the pack must be mined again.

Ratings are computed from the probability that a player of level `CASUAL` finds the best move
(`chance_to_find`). As in Elo's system, a difference of 400 points between the puzzle and the player
means odds of 10 to 1. The mean rating of the pack is `MEAN`. Later, the answers of players change
the ratings (see `PuzzleBook`).

To explain why the most tempting wrong move is worse, players of level `PRACTISED` are simulated
after each move. If they clearly do better after another move than after the best one, the puzzle is
dropped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from py2048.core.board import Board, canonical
from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rng import derive_seed
from py2048.core.rules import Rules, get_rules
from py2048.lab.training.boards import OngoingGame
from py2048.players import Player, make_player
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import digest_of, shipped_path
from py2048.players.search.expectimax import Expectimax
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.players.searching import network_for
from py2048.players.solving import find_ending
from py2048.review.coaching import grade_for, level_judge
from py2048.review.levels import LEVELS
from py2048.review.moves import Grade, Position, grade_of
from py2048.review.puzzles import NOTHING, PACK, RANKS, Puzzle, puzzles
from py2048.review.simulation import evaluation_of, misjudgement

SEED = 2048
QUOTAS = {"classic": 700, "3x3": 120, "5x5": 60, "comp1127": 120}
"""Puzzles in the pack, by preset."""
SURPLUS = 1.05
"""Positions mined per puzzle. The surplus leaves a choice of ratings."""

WALKERS = (
    ("ntuple", 0.0), ("ntuple", 0.03), ("ntuple", 0.1),
    ("heuristic:depth=1", 0.05), ("corner", 0.0), ("greedy", 0.0),
)  # fmt: skip
"""The players whose games are searched for puzzles, and their share of random moves."""
SPACING = {"classic": 10, "3x3": 3, "5x5": 10, "comp1127": 5}
"""Number of plies between examined positions, by preset."""
MIN_LEGAL = 3
"""Positions with fewer legal moves are too easy."""
MAX_PER_GAME = 8
"""Maximum puzzles per game."""

CLEAR = 0.05
"""Minimum lead of the best move, relative to its value."""
GAMES, LOOK, SURE, HOPELESS = 400, 25, 3.0, -1.0
"""Limits of `is_best_by_play`.

At most `GAMES` games are played for each move. After every `LOOK` games, the best move is confirmed
if its lead is at least `SURE` standard errors, and rejected if its lead is at most `HOPELESS`.
"""
HORIZON = 400
"""Games are cut off when the tile sum has grown by this much; the network estimates the rest."""
EXACT = "3x3"
DEPTHS = {"classic": (2, 3, 4), "comp1127": (2, 3, 4), "5x5": (2, 3)}

CASUAL, PRACTISED = LEVELS[1:3]
MEAN, FACTOR = 1500.0, 400.0
"""Mean rating of the pack, and the rating difference that means odds of 10 to 1."""
MIN_CHANCE, CHANCES = 0.02, 1000
"""Minimum chance, which keeps ratings finite, and the number of integration points."""
BIN = 50
"""Width of the rating bins from which the pack is chosen."""


# --- finding positions ---------------------------------------------------------------------------


@cache
def player_for(spec: str, _rules: str) -> Player:
    """Return a player, cached per preset."""
    return make_player(spec)


class Miner:
    """Plays games and searches them for puzzle positions.

    Args:
        log: File with the results so far, to which new results are appended.
        solution: File with the solution of the 3x3 rules.
        scale: Number of positions to find, relative to the usual number.
    """

    def __init__(self, log: Path, solution: Path | None, scale: float) -> None:
        self._log, self._solution = log, solution
        self.wanted = {
            name: round(SURPLUS * quota * scale)
            for name, quota in QUOTAS.items()
            if name != EXACT or solution is not None
        }
        self.found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._games: Counter[str] = Counter()
        for line in log.read_text("utf-8").splitlines() if log.exists() else ():
            self._take(json.loads(line))

    def _take(self, game: dict[str, Any]) -> None:
        name = game["rules"]
        self._games[name] += 1
        self.found[name] = unique(self.found[name] + game["found"])

    def mine(self) -> None:
        """Play games until there are enough positions, logging each game."""
        while lacking := [name for name, count in self.wanted.items()
                          if len(self.found[name]) < count]:  # fmt: skip
            name = min(lacking, key=lambda name: len(self.found[name]) / self.wanted[name])
            game = {"rules": name, "found": self._of_game(name, self._games[name])}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(game) + "\n")
            self._take(game)
            progress = ", ".join(f"{name} {len(self.found[name])}/{self.wanted[name]}"
                                 for name in self.wanted)  # fmt: skip
            print(progress, file=sys.stderr, flush=True)

    def _of_game(self, name: str, number: int) -> list[dict[str, Any]]:
        """Return the puzzle positions in a game. Game 0 stands for the current pack."""
        rules = get_rules(name)
        if number == 0:
            boards, limit = [each.board for each in puzzles() if each.rules == rules], QUOTAS[name]
        else:
            seed = derive_seed(SEED, number)
            boards, limit = [*walk(rules, number, seed)], MAX_PER_GAME
            random.Random(seed).shuffle(boards)
        found: list[dict[str, Any]] = []
        for board in boards:
            if len(found) == limit:
                break
            values = self._verdict(rules, board)
            if values and (name == EXACT or is_best_by_play(rules, board, values)):
                points = {str(each): round(value, 1) for each, value in values.items()}
                found.append({"board": str(board).replace("\n", " / "), "values": points})
        return found

    def _verdict(self, rules: Rules, board: Board) -> dict[Direction, float] | None:
        """Return each move's value, or None unless one move is clearly best at all depths."""
        values = None
        verdicts = set()
        for level in range(len(DEPTHS.get(rules.name, (0,)))):
            if (values := self._values(rules, board, level)) is None:
                return None
            verdicts.add(max(values, key=values.__getitem__))
        return values if len(verdicts) == 1 else None

    def _values(self, rules: Rules, board: Board, level: int) -> dict[Direction, float] | None:
        """Return each move's value, or None unless one move is clearly best."""
        if rules.name == EXACT:
            spec = f"perfect:file={self._solution}"
        else:
            spec = f"expectimax:depth={DEPTHS[rules.name][level]}"
        judge, game = player_for(spec, rules.name), Game(rules, seed=0, board=board)
        values = judge.rate(game)
        ordered = sorted(values.values(), reverse=True)
        is_clear = ordered[1] <= (1 - CLEAR) * ordered[0] and ordered[0] > 0
        return values if is_clear else None


def walk(rules: Rules, number: int, seed: int) -> Iterator[Board]:
    """Play a game; yield the positions to examine."""
    spec, noise = WALKERS[number % len(WALKERS)]
    player, game, draws = player_for(spec, rules.name), Game(rules, seed=seed), random.Random(seed)
    while not game.is_over:
        if not game.ply % SPACING[rules.name] and len(game.legal_directions()) >= MIN_LEGAL:
            yield game.board
        is_random = draws.random() < noise
        game.play(draws.choice(game.legal_directions()) if is_random else player.choose(game))


@cache
def searcher_for(rules: Rules) -> Searcher:
    """Return a 1-ply searcher that plays games to the end with the network."""
    return Searcher(rules, network_for(rules), SearchLimits(1))


def is_best_by_play(rules: Rules, board: Board, values: dict[Direction, float]) -> bool:
    """Return whether games score clearly more after the best move than after any other move."""
    best = max(values, key=values.__getitem__)
    earned: dict[Direction, list[float]] = {direction: [] for direction in values}
    for number in range(1, GAMES + 1):
        for direction, points in earned.items():
            points.append(points_after(rules, board, direction, derive_seed(SEED, number)))
        if number % LOOK == 0:
            leads = [lead(earned[best], earned[each]) for each in values if each is not best]
            if min(leads) >= SURE:
                return True
            if min(leads) <= HOPELESS:
                return False
    return False


def points_after(rules: Rules, board: Board, direction: Direction, seed: int) -> float:
    """Return the points of a game that starts with this move."""
    game, searcher = Game(rules, seed=seed, board=board), searcher_for(rules)
    game.play(direction)
    later = OngoingGame(searcher, searcher.cells_of(game.board), seed)
    is_alive = not game.is_over and later.play_to((later.tile, later.sum + HORIZON))
    return game.score + later.score + (later.value() if is_alive else 0.0)


def lead(ours: list[float], theirs: list[float]) -> float:
    """Return how far one mean leads another, in standard errors of the difference."""
    difference = np.subtract(ours, theirs)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return float(difference.mean() / error) if error else 0.0


# --- rating and judging --------------------------------------------------------------------------


def judged(puzzle: Puzzle) -> Puzzle | None:
    """Rate and explain a puzzle, or return None if simulations find a better move."""
    network = evaluation_of(puzzle.rules)
    assert isinstance(network, Network)
    values = Expectimax(puzzle.rules, network.value, 1).rate(puzzle.board)
    share = misjudgement(puzzle.rules, CASUAL.slip)
    chance = np.clip(chance_to_find(values, puzzle.best, share), MIN_CHANCE, 1 - MIN_CHANCE)
    tempting = max(set(values) - {puzzle.best}, key=values.__getitem__)
    move = level_judge(puzzle.rules, PRACTISED).review_move(Position(1, puzzle.board, 0, tempting))
    loss = move.values[move.best] - move.values[puzzle.best]
    if grade_for(loss, move.errors[puzzle.best]).is_mistake:
        print(f"{move.best} is better in {line_of(puzzle)}", file=sys.stderr)
        return None
    kind = move.reason.kind if move.reason else None
    rating = round(MEAN - FACTOR * np.log10(chance / (1 - chance)))
    return replace(puzzle, rating=rating, theme=kind)


def chance_to_find(values: Mapping[Direction, float], best: Direction, share: float) -> float:
    """Return the probability that a player who misjudges moves still chooses the best one.

    Args:
        values: Value of each move.
        best: The best move.
        share: The player multiplies each value by a random factor, uniform from 1 - share to
            1 + share.
    """
    factors = 1 + share * np.linspace(-1, 1, CHANCES)
    chances = np.ones(CHANCES)
    for value in (value for direction, value in values.items() if direction is not best):
        chances *= np.interp(values[best] * factors, value * factors, np.linspace(0, 1, CHANCES))
    return float(chances.mean())


def centred(found: list[Puzzle]) -> list[Puzzle]:
    """Shift ratings so that their mean is `MEAN`."""
    shift = round(MEAN - np.mean([puzzle.rating for puzzle in found]))
    return [replace(puzzle, rating=puzzle.rating + shift) for puzzle in found]


# --- choosing ------------------------------------------------------------------------------------


def pack_of(found: dict[str, list[dict[str, Any]]], quotas: dict[str, int]) -> list[Puzzle]:
    """Choose the puzzles of the pack, spread evenly over the ratings for each preset."""
    draws = random.Random(SEED)
    chosen: list[Puzzle] = []
    for name, quota in quotas.items():
        confirmed = (puzzle_of(name, each) for each in found[name] if is_confirmed(name, each))
        bins: dict[int, list[Puzzle]] = defaultdict(list)
        for puzzle in filter(None, map(judged, confirmed)):
            bins[puzzle.rating // BIN].append(puzzle)
        chosen += evenly(bins, quota, draws)
    draws.shuffle(chosen)  # puzzle numbers must not reveal ratings
    return [replace(puzzle, id=number) for number, puzzle in enumerate(chosen, start=1)]


def is_confirmed(name: str, found: dict[str, Any]) -> bool:
    """Return False if an installed endgame table has a better move."""
    ending = find_ending(Board.parse(found["board"]), name)
    if ending is None:
        return True
    best = Direction.parse(max(found["values"], key=found["values"].__getitem__))
    is_best = grade_of(1 - ending.chances[best] / max(ending.chances.values())) is Grade.BEST
    verb = "confirms" if is_best else "refuses"
    print(f"{ending.table} {verb} {found['board']}", file=sys.stderr)
    return is_best


def unique(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Remove symmetric duplicates."""
    return list({canonical(Board.parse(each["board"]).rows): each for each in found}.values())


def evenly(bins: dict[int, list[Puzzle]], count: int, draws: random.Random) -> list[Puzzle]:
    """Draw puzzles from all bins in turn."""
    columns = [draws.sample(bins[key], len(bins[key])) for key in sorted(bins)]
    return [each for each in chain.from_iterable(zip_longest(*columns)) if each][:count]


def puzzle_of(name: str, found: dict[str, Any]) -> Puzzle:
    """Return an unrated puzzle for a position."""
    rules, board = get_rules(name), Board.parse(found["board"])
    scale = scale_of(rules, board)
    values = {Direction.parse(word): value * scale for word, value in found["values"].items()}
    return Puzzle(0, rules, board, max(values, key=values.__getitem__), values, 0, None)


def scale_of(rules: Rules, board: Board) -> float:
    """Return the ratio of points scored in recorded games to points that the network expected."""
    records = None if rules.name == EXACT else network_for(rules).records
    return records.scale(board) if records else 1.0


def line_of(puzzle: Puzzle) -> str:
    """Return a puzzle's line in the pack."""
    ranks = "/".join(
        "".join(RANKS[max(tile.bit_length() - 1, 0)] for tile in row) for row in puzzle.board.rows
    )
    values = " ".join(
        f"{puzzle.values[direction]:.1f}" if direction in puzzle.values else NOTHING
        for direction in Direction
    )
    head = f"{puzzle.id} {puzzle.rating} {puzzle.theme or NOTHING} {puzzle.rules.name}"
    return f"{head} {ranks} {values}"


def write_pack(found: Iterable[Puzzle], path: Path = PACK) -> None:
    """Write a pack, sorted by rating."""
    ordered = sorted(found, key=lambda puzzle: (puzzle.rating, puzzle.id))
    head = "# number rating theme rules ranks up down left right"
    files = {name: shipped_path(get_rules(name)) for name in DEPTHS}
    mined = [f"# {name} {digest_of(file)}" for name, file in files.items() if file]
    path.write_text("\n".join([head, *mined, *map(line_of, ordered), ""]), encoding="ascii")


def main(words: list[str]) -> int:
    """Mine puzzles, and optionally write the pack."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("log", type=Path, metavar="LOG", nargs="?", help="results so far")
    parser.add_argument("--solution", type=Path, metavar="FILE", help="solution of 3x3")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the positions to mine, such as 0.1"
    )
    parser.add_argument("--write", action="store_true", help="write the pack into the package")
    options = parser.parse_args(words)
    if options.log is None:
        pack = [*filter(None, map(judged, puzzles()))]
    else:
        miner = Miner(options.log, options.solution, options.scale)
        miner.mine()
        quotas = {name: round(quota * options.scale) for name, quota in QUOTAS.items()
                  if name in miner.wanted}  # fmt: skip
        pack = pack_of(miner.found, quotas) if options.write else []
    if options.write:
        write_pack(centred(pack))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
