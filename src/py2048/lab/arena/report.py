"""Reports of tournament results as text, JSON and CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from io import StringIO
from typing import Any

import msgspec

from py2048.core.rules import list_rules
from py2048.lab.arena.jobs import COLUMNS
from py2048.lab.arena.statistics import (
    Comparison,
    Estimate,
    JudgedPlay,
    PlayerSummary,
    comparisons,
    summaries,
)
from py2048.lab.arena.tournament import Results
from py2048.presentation.words import columns

FORMAT = "py2048 arena"
VERSION = 1


def text_report(results: Results, judged: Sequence[JudgedPlay] = ()) -> str:
    """Format results as text in columns, including losses and luck if they are known."""
    found, pairs = summaries(results), comparisons(results)
    tables = [_scores(found), _quantiles(found), _tiles(found)]
    tables += [_pairs(pairs)] if pairs else []
    tables += [_losses(judged), _luck(judged)] if judged else []
    return "\n\n".join([_title(results), *map(columns, tables)])


def _title(results: Results) -> str:
    tournament = results.tournament
    games = f"{tournament.games:,} game" + "s" * (tournament.games > 1)
    kind = "tiles committed to by" if isinstance(tournament.seed, str) else "seed"
    rules = tournament.rules.name if tournament.rules in list_rules() else str(tournament.rules)
    title = f"{rules}, {games} each, {kind} {tournament.public_seed}"
    if results.complete:
        return title
    return (
        f"{title}\nstopped after {results.count:,} of {results.total:,} games; "
        "long ones are more likely to be missing"
    )


Table = list[tuple[str, ...]]


def _scores(found: Sequence[PlayerSummary]) -> Table:
    head = ("player", "games", "mean score", "95 % interval", "moves", "moves/s")
    rows = []
    for each in found:
        moves = number(each.moves.mean), number(each.moves_per_second)
        rows.append((each.player, f"{each.games:,}", *_with_interval(each.score), *moves))
    return [head, *rows]


def _quantiles(found: Sequence[PlayerSummary]) -> Table:
    shares = [f"{share:.0%}".replace("%", " %") for share in found[0].quantiles] if found else []
    rows = [
        (each.player, *map(number, (each.least, *each.quantiles.values(), each.most)))
        for each in found
    ]
    return [("scores", "least", *shares, "most"), *rows]


def _tiles(found: Sequence[PlayerSummary]) -> Table:
    rows = [
        (player.player, str(tile), percent(rate.share), f"{100 * rate.low:.1f} to {high}")
        for player in found
        for tile, rate in player.tiles.items()
        for high in [percent(rate.high)]
    ]
    return [("reached", "tile", "of games", "95 % interval"), *rows]


def _pairs(pairs: Sequence[Comparison]) -> Table:
    head = ("the same games", "games", "difference", "95 % interval", "won", "drawn")
    rows = []
    for pair in pairs:
        shares = percent(pair.won.share), percent(pair.drawn / pair.won.trials)
        names, games = f"{pair.first} - {pair.second}", f"{pair.won.trials:,}"
        rows.append((names, games, *_with_interval(pair.difference), *shares))
    return [head, *rows]


def _losses(judged: Sequence[JudgedPlay]) -> Table:
    is_exact = judged[0].is_exact
    what = ("regret", "a game") if is_exact else (f"loss by judge {judged[0].judge}", "a move")
    rows = []
    for each in judged:  # the errors of a judge add up over a game
        loss = _with_interval(each.per_game if is_exact else each.per_move)
        rows.append((each.player, *loss, percent(each.best_moves.share)))
    return [(*what, "95 % interval", "best moves"), *rows]


def _luck(judged: Sequence[JudgedPlay]) -> Table:
    rows = [
        (each.player, *_with_interval(each.score), percent(each.saved), plus_minus(each.luck))
        for each in judged
    ]
    return [("without luck", "mean score", "95 % interval", "variance saved", "luck"), *rows]


def number(value: float, size: float | None = None) -> str:
    """Format a number with 2 decimals below 10, 1 decimal below 100, otherwise none.

    If `size` is given, it selects the number of decimals instead of `value`.
    """
    if not math.isfinite(value):
        return "-"
    size = abs(value if size is None else size)
    whole = size >= 100 or (value == int(value) and value == size)
    return f"{value:,.{0 if whole else 1 if size >= 10 else 2}f}"


def plus_minus(estimate: Estimate) -> str:
    """Format a mean with its standard error."""
    return f"{number(estimate.mean)} ± {number(estimate.error, estimate.mean)}"


def percent(share: float) -> str:
    """Format a share as a percentage."""
    return f"{share:.1%}".replace("%", " %")


def _with_interval(estimate: Estimate) -> tuple[str, str]:
    """Format a mean and its confidence interval for two columns of a table."""
    ends = (number(value, estimate.mean) for value in (estimate.low, estimate.high))
    return plus_minus(estimate), "-" if math.isnan(estimate.low) else " to ".join(ends)


def data(results: Results, judged: Sequence[JudgedPlay] = ()) -> dict[str, Any]:
    """Return all summaries and games as JSON values, with null for unknown values."""
    tournament, names = results.tournament, COLUMNS[1:]
    played = {
        spec: [{name: getattr(game, name) for name in names} for game in results.of(spec).values()]
        for spec in tournament.players
    }
    found = {
        "format": FORMAT,
        "version": VERSION,
        "complete": results.complete,
        "rules": str(tournament.rules),
        "seed": tournament.public_seed,
        "games": tournament.games,
        "players": [
            msgspec.to_builtins(each, str_keys=True) | {"played": played[each.player]}
            for each in summaries(results)
        ],
        "comparisons": comparisons(results),
    }
    text = msgspec.json.encode(found | ({"judged": judged} if judged else {}))
    return msgspec.json.decode(text, type=dict)


def csv_text(results: Results) -> str:
    """Return a CSV table with one line per game, grouped by player."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for spec in results.tournament.players:
        for game in results.of(spec).values():
            writer.writerow([getattr(game, name) for name in COLUMNS])
    return file.getvalue()
