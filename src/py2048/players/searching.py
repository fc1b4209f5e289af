"""The players that use the compiled search: `expectimax`, `heuristic` and `ntuple`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from math import inf
from operator import attrgetter
from pathlib import Path

from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game
from py2048.core.rules import Rules
from py2048.players.ntuple.heuristic import Heuristic, board_value, heuristic_for
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import load, records_path, shipped_network, shipped_path
from py2048.players.player import (
    Chance,
    ChoosesBest,
    FinishedGame,
    Meaning,
    Recent,
    Unit,
    Usage,
    checked_game,
)
from py2048.players.search.context import is_searchable
from py2048.players.search.expectimax import Evaluation, heuristic_win_value, max_spawns, rate_for
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games

DEPTH = 3
"""Default depth."""

PYTHON_DEPTH = 2
"""Depth of the plain Python search, for rules that the compiled search does not support."""
PYTHON_MAX_CELLS = 1 << 20
"""Work limit of a search in plain Python (about half a second), in boards times cells."""

MAX_EXHAUSTIVE_SPAWNS, MANY_SPAWNS_DEPTH = 256, 2
"""If a move can lead to more than `MAX_EXHAUSTIVE_SPAWNS` boards, the depth of an exhaustive search
is limited to `MANY_SPAWNS_DEPTH`.
"""

MAX_SEARCHERS = 4
"""Maximum number of searchers cached per player. Each searcher takes about 70 MB."""

_ALL_BUT_NAME = attrgetter(*(field.name for field in fields(Rules) if field.name != "name"))

DEEP_NODES, DEEP_MS = 20_000, 0.5
"""Searches with at least this many nodes or milliseconds use the heuristic for deep searches."""

HEURISTIC, NTUPLE = "heuristic", "ntuple"


class SearchPlayer(ChoosesBest):
    """Plays the best move of a search.

    The first search on a kind of board compiles kernels, which takes a few seconds once per
    machine. If a user is waiting, search on another thread, or run ``py2048 warm-up`` beforehand.

    Args:
        name: Spec of the player.
        limits: How far to search.
        evaluation_for: Function that returns the leaf evaluation for given rules.
        threads: Number of threads that share the search of a move.
    """

    def __init__(
        self,
        name: str,
        limits: SearchLimits,
        evaluation_for: Callable[[Rules], Network | Heuristic],
        threads: int = 1,
    ) -> None:
        if not 1 <= threads <= len(Direction):
            raise PlayerError(f"threads must be 1 to {len(Direction)}, not {threads}")
        self.name = name
        self._limits = limits
        self._evaluation_for = evaluation_for
        self._threads = threads
        self._searchers = Recent[Searcher](MAX_SEARCHERS)
        self._boards = 0

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction, in the unit reported by `meaning`.

        Raises:
            PlayerError: If there are no weights for the game's rules.
        """
        if not checked_game(game).legal_directions():
            return {}
        if not is_searchable(game.rules):
            return self._rate_in_python(game)
        searcher = self.searcher(game.rules)
        values = searcher.rate(game.board)
        self._boards += searcher.nodes
        return values

    def usage(self) -> Usage:
        """Return the number of boards that this player has rated."""
        return Usage(boards=self._boards)

    def meaning(self, game: Game) -> Meaning:
        """Return the meaning of the values, based on the network's stage records.

        Even for deep searches, the policy is the network without search, because leaf values
        estimate the outcome of play without search.
        """
        evaluation = self._evaluation_for(game.rules)
        records = evaluation.records if isinstance(evaluation, Network) else None
        record = records.of(game.board) if records else None
        if records is None or record is None:
            return Meaning()
        goal = record.next_tile
        chance = Chance(goal, record.made.get(goal, 0), record.games)
        if not record.is_calibrated:
            return Meaning(Unit.RATING, NTUPLE, chance=chance)
        return Meaning(Unit.POINTS, NTUPLE, records.excess(game.board), chance)

    def searcher(self, rules: Rules) -> Searcher:
        """Return a cached searcher for the rules; the name of the rules does not matter.

        Raises:
            PlayerError: If there are no weights for the rules.
        """
        return self._searchers.find(_ALL_BUT_NAME(rules), lambda: self.new_searcher(rules))

    def new_searcher(self, rules: Rules) -> Searcher:
        """Create a separate searcher for the rules, for use in another thread.

        Raises:
            PlayerError: If there are no weights for the rules.
        """
        evaluation, limits = self._evaluation_for(rules), self._limits
        spawns = rules.cells * len(rules.spawn_weights.tiles)
        if limits.is_exhaustive and spawns > MAX_EXHAUSTIVE_SPAWNS:
            limits = replace(limits, depth=min(limits.max_depth, MANY_SPAWNS_DEPTH))
        return Searcher(rules, evaluation, limits, threads=self._threads)

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> list[FinishedGame]:
        """Play a game for each seed to the end; compile the kernels first if necessary.

        Raises:
            PlayerError: If there are no weights for the rules.
        """
        if not is_searchable(rules):
            return [self._play(rules, seed) for seed in seeds]
        searcher = self.searcher(rules)
        searcher.prepare(plays=True)
        games = play_games(searcher, seeds)
        self._boards += searcher.nodes
        columns = (each.tolist() for each in (games.scores, games.tiles, games.plies))
        return [FinishedGame(*row) for row in zip(*columns, strict=True)]

    def _play(self, rules: Rules, seed: int) -> FinishedGame:
        game = Game(rules, seed=seed)
        while not game.is_over:
            game.play(self.choose(game))
        return FinishedGame(game.score, game.board.max_tile, game.ply)

    def _rate_in_python(self, game: Game) -> dict[Direction, float]:
        limits, rules, evaluation = self._limits, game.rules, self._evaluation_for(game.rules)
        value: Evaluation
        if isinstance(evaluation, Network):
            value, win_value = evaluation.value, 0.0
        else:
            value = partial(board_value, heuristic=evaluation)
            win_value = heuristic_win_value(rules)
        seconds, max_depth = inf, min(limits.max_depth, PYTHON_DEPTH)
        if limits.ms is not None:
            seconds = limits.ms / 1000
        else:
            most = limits.nodes or PYTHON_MAX_CELLS // rules.cells
            if len(Direction) ** 2 * max_spawns(rules, game.board) > most:
                max_depth = 1
        return rate_for(seconds, rules, value, max_depth, win_value, game.board)


class ExpectimaxPlayer(SearchPlayer):
    """An expectimax search that evaluates the leaves with a network or a heuristic."""

    def __init__(
        self,
        depth: int | None = None,
        ms: float | None = None,
        nodes: int | None = None,
        cutoff: float = 0.0,
        evaluation: str = "",
        weights: str = "",
        threads: int = 1,
    ) -> None:
        if depth is None and ms is None and nodes is None:
            depth = DEPTH
        given: dict[str, object] = {"depth": depth, "ms": ms, "nodes": nodes, "cutoff": cutoff}
        given |= {"evaluation": evaluation, "weights": weights}
        if threads != 1:
            given["threads"] = threads
        limits = SearchLimits(depth, nodes, ms, cutoff)
        is_deep = (nodes or 0) >= DEEP_NODES or (ms or 0.0) >= DEEP_MS
        rated = evaluation_by(evaluation, weights, is_deep=is_deep)
        super().__init__(f"expectimax:{options_text(given)}", limits, rated, threads)


class HeuristicPlayer(SearchPlayer):
    """An expectimax search that evaluates the leaves with a heuristic instead of a network."""

    def __init__(self, depth: int = DEPTH) -> None:
        super().__init__(
            f"heuristic:depth={depth}", SearchLimits(depth), evaluation_by(HEURISTIC, "")
        )


def evaluation_by(
    evaluation: str, weights: str, *, is_deep: bool = False
) -> Callable[[Rules], Network | Heuristic]:
    """Return a function that selects the leaf evaluation for rules, based on player options.

    Raises:
        PlayerError: If the options contradict each other.
        WeightsError: If the weights cannot be used.
    """

    def heuristic(rules: Rules) -> Heuristic:
        return heuristic_for(rules, is_deep=is_deep)

    if evaluation not in ("", HEURISTIC, NTUPLE):
        raise PlayerError(f"evaluation must be {HEURISTIC} or {NTUPLE}, not {evaluation!r}")
    if evaluation == HEURISTIC:
        if weights:
            raise PlayerError(f"evaluation={HEURISTIC} takes no weights; leave one of them out")
        return heuristic
    if weights:
        network = _loaded(weights)  # Load now, so that later changes to the file have no effect.
        return lambda rules: _fitting(network, rules, weights)
    if evaluation == NTUPLE:
        return network_for
    return lambda rules: network_for(rules) if shipped_path(rules) else heuristic(rules)


class NtuplePlayer(SearchPlayer):
    """Plays with a trained n-tuple network, one move ahead. Use your own with weights=FILE."""

    def __init__(self, weights: str = "") -> None:
        name = f"ntuple:weights={weights}" if weights else "ntuple"
        super().__init__(name, SearchLimits(depth=1), evaluation_by(NTUPLE, weights))


def network_for(rules: Rules, weights: str = "") -> Network:
    """Return the network in the file `weights`, or the installed network if `weights` is empty.

    Raises:
        PlayerError: If the network does not exist or is for other rules.
    """
    if weights:
        return _fitting(_loaded(weights), rules, weights)
    network = shipped_network(rules)
    if network is None:
        raise PlayerError(
            f"no weights come with py2048 for the rules {rules.name}: train some with "
            "py2048 train, then play ntuple:weights=FILE"
        )
    return network


def _fitting(network: Network, rules: Rules, weights: str) -> Network:
    if not network.compatible_with(rules):
        raise PlayerError(f"the weights in {weights} are for {network.rules}, not {rules}")
    return network


_networks = Recent[tuple[object, Network]](64)
"""Cache of loaded networks. The cache also stores each file's modification time and size, so that
changed files are loaded again.
"""


def _loaded(weights: str) -> Network:
    state = _state(Path(weights)), _state(records_path(weights))
    return _networks.find(weights, lambda: (state, load(weights)), lambda old: old[0] == state)[1]


def _state(path: Path) -> tuple[int, int] | None:
    """Return a file's modification time and size, or `None` if it does not exist."""
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return facts.st_mtime_ns, facts.st_size


def options_text(options: Mapping[str, object]) -> str:
    """Format a player's options for a spec, without empty or zero options."""
    return ",".join(
        f"{name}={value}".removesuffix(".0" if isinstance(value, float) else "")
        for name, value in options.items()
        if value not in (None, "", 0.0)
    )
