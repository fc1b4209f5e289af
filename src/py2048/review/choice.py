"""Which judge reviews games: the one asked for, or the best there is for the rules."""

from __future__ import annotations

from contextlib import suppress

from py2048.board import Board
from py2048.errors import PlayerError, shown
from py2048.players import Player, make_player
from py2048.review.judge import Judge
from py2048.rules import Rules

DEFAULT, MANY_CELLS = "expectimax:depth=3", 16
"""The judge of boards of up to so many cells. A deeper search confirms more of the mistakes that it
finds than of those that depth 2 finds (``benchmarks/review.py``)."""

LARGE, HUGE = "expectimax:depth=2", "heuristic:depth=1"
"""The judges of larger boards, and under rules that a compiled search does not take."""


def judge_for(rules: Rules, spec: str = "", start: Board | None = None) -> Judge:
    """Return the judge that `spec` names, by default the best one for the rules.

    That is the exact solution on boards of up to eight cells, and a search by the network or the
    heuristic elsewhere.

    Args:
        rules: the rules.
        spec: a player such as ``expectimax:depth=3``, or ``perfect``.
        start: a board from which games begin, if it is not drawn by the rules.

    Raises:
        PlayerError: if there is no such player, or it does not play under the rules.
    """
    if not isinstance(spec, str):
        raise PlayerError(f"{shown(spec)} names no judge: give a player such as {DEFAULT!r}")
    if spec:
        return judge_by(rules, make_player(spec))
    from py2048.players.perfect import QUICK_CELLS

    if rules.cells <= QUICK_CELLS:
        with suppress(PlayerError):  # rules without chance, and tiles too large to be solved
            judge = judge_by(rules, make_player("perfect"))
            if start:
                judge.rate(start)
            return judge
    return judge_by(rules, make_player(_search_for(rules)))


def judging_player(rules: Rules, spec: str = "") -> Player:
    """Return a player that needs the kernels of `judge_for`'s judge: a screen prepares it first.

    Raises:
        PlayerError: if there is no such player.
    """
    from py2048.players.perfect import QUICK_CELLS

    if not spec and rules.cells <= QUICK_CELLS and not rules.is_deterministic:
        return make_player("perfect")
    return make_player(spec or _search_for(rules))


def _search_for(rules: Rules) -> str:
    from py2048.search.context import is_searchable

    if not is_searchable(rules):
        return HUGE
    return DEFAULT if rules.cells <= MANY_CELLS else LARGE


def judge_by(rules: Rules, player: Player) -> Judge:
    """Return the judge that values moves as a player does.

    Raises:
        PlayerError: if the player does not play under the rules.
    """
    # With NumPy, these take as long to import as a screen may take to open.
    from py2048.players.perfect import PerfectPlayer
    from py2048.players.searching import SearchPlayer
    from py2048.review.judges import ExactJudge, PlayerJudge, SearchJudge
    from py2048.search.context import is_searchable
    from py2048.solving.distilled import shipped_moves

    if isinstance(player, PerfectPlayer):
        return ExactJudge(player.solution(rules), rules, player)
    if isinstance(player, SearchPlayer) and is_searchable(rules):
        return SearchJudge(player, rules, shipped_moves(rules))
    return PlayerJudge(player, rules)
