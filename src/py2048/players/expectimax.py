"""The players that search: `expectimax` with every option, `heuristic` with one."""

from __future__ import annotations

from collections.abc import Callable

from py2048.errors import PlayerError
from py2048.ntuple.heuristic import DEFAULT, Heuristic
from py2048.ntuple.network import Network
from py2048.ntuple.shipped import has_shipped
from py2048.players.ntuple import network_for
from py2048.players.searching import SearchPlayer, options_text
from py2048.rules import Rules
from py2048.search.limits import Limits

HEURISTIC, NTUPLE = "heuristic", "ntuple"

DEPTH = 3
"""How many moves a player looks ahead if it is not told."""


class ExpectimaxPlayer(SearchPlayer):
    """Looks ahead over all spawns and rates what it reaches by a network, or else a heuristic."""

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
        given = options_text(
            depth=depth, ms=ms, nodes=nodes, cutoff=cutoff, evaluation=evaluation, weights=weights
        )
        workers = f",threads={threads}" if threads != 1 else ""
        limits = Limits(depth, nodes, ms, cutoff)
        rated = rated_by(evaluation, weights)
        super().__init__(f"expectimax:{given}{workers}", limits, rated, threads)


class HeuristicPlayer(SearchPlayer):
    """Looks ahead over all spawns and rates leaves by a heuristic; needs no weights."""

    def __init__(self, depth: int = DEPTH) -> None:
        super().__init__(f"heuristic:depth={depth}", Limits(depth), lambda _: DEFAULT)


def rated_by(evaluation: str, weights: str) -> Callable[[Rules], Network | Heuristic]:
    """Return what gives the evaluation that the options of a player ask for.

    Raises:
        PlayerError: if they contradict each other, or the weights cannot be read.
    """
    if evaluation not in ("", HEURISTIC, NTUPLE):
        raise PlayerError(f"evaluation must be {HEURISTIC} or {NTUPLE}, not {evaluation!r}")
    if evaluation == HEURISTIC:
        if weights:
            raise PlayerError(f"evaluation={HEURISTIC} takes no weights; leave one of them out")
        return lambda _: DEFAULT
    if evaluation == NTUPLE or weights:
        return lambda rules: network_for(rules, weights)
    return lambda rules: network_for(rules) if has_shipped(rules) else DEFAULT
