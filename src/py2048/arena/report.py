"""The results of a tournament as text, as plain data for JSON, and as CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from io import StringIO

from py2048.arena.regret import Regret
from py2048.arena.statistics import (
    Comparison,
    Estimate,
    PlayerSummary,
    Rate,
    comparisons,
    summaries,
)
from py2048.arena.tournament import Results

FORMAT = "py2048 arena"
VERSION = 1

Row = Sequence[str]

GAME_COLUMNS = ("player", "game", "seed", "score", "max_tile", "moves", "seconds")


def text_report(results: Results, losses: Sequence[Regret] = ()) -> str:
    """Return the results, and what the players' moves lost if that is known, as text in columns."""
    found, pairs = summaries(results), comparisons(results)
    parts = [_title(results), _scores(found), _spread(found), _tiles(found)]
    parts += [_pairs(pairs)] if pairs else []
    return "\n\n".join([*parts, _regrets(losses)] if losses else parts)


def _title(results: Results) -> str:
    tournament = results.tournament
    games = f"{tournament.games:,} game" + "s" * (tournament.games > 1)
    lines = [f"{tournament.rules.name}, {games} each, seed {tournament.seed}"]
    if not results.complete:
        lines.append(
            f"stopped after {results.count:,} of {results.total:,} games; "
            "long ones are more likely to be missing"
        )
    return "\n".join(lines)


def _scores(found: Sequence[PlayerSummary]) -> str:
    head = ("player", "games", "mean score", "95 % interval", "moves", "moves/s")
    return _columns([head, *(_score_row(each) for each in found)])


def _score_row(each: PlayerSummary) -> Row:
    return (
        each.player,
        f"{each.games:,}",
        plus_minus(each.score),
        _interval(each.score),
        number(each.moves.mean),
        number(each.moves_per_second),
    )


def _spread(found: Sequence[PlayerSummary]) -> str:
    shares = [f"{share:.0%}".replace("%", " %") for share in found[0].quantiles] if found else []
    rows = [
        (each.player, number(each.least), *map(number, each.quantiles.values()), number(each.most))
        for each in found
    ]
    return _columns([("scores", "least", *shares, "most"), *rows])


def _tiles(found: Sequence[PlayerSummary]) -> str:
    rows = [
        (each.player, str(tile), percent(rate.share), _share_interval(rate))
        for each in found
        for tile, rate in each.tiles.items()
    ]
    return _columns([("reached", "tile", "of games", "95 % interval"), *rows])


def _pairs(pairs: Sequence[Comparison]) -> str:
    head = ("the same games", "games", "difference", "95 % interval", "won", "drawn")
    return _columns([head, *map(_pair_row, pairs)])


def _pair_row(pair: Comparison) -> Row:
    return (
        f"{pair.first} - {pair.second}",
        f"{pair.won.trials:,}",
        plus_minus(pair.difference),
        _interval(pair.difference),
        percent(pair.won.share),
        percent(pair.drawn / pair.won.trials),
    )


def _regrets(losses: Sequence[Regret]) -> str:
    head = ("regret", "a game", "95 % interval", "a move", "best moves")
    rows = [
        (
            each.player,
            plus_minus(each.per_game),
            _interval(each.per_game),
            number(each.per_move.mean),
            percent(each.best_moves.share),
        )
        for each in losses
    ]
    return _columns([head, *rows])


def _columns(rows: Sequence[Row]) -> str:
    """Return rows as lines: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        f"{row[0]:<{widths[0]}}  "
        + "  ".join(f"{text:>{width}}" for text, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def number(value: float, size: float | None = None) -> str:
    """Return a number with the digits that matter at its size, or at another `size`."""
    if not math.isfinite(value):
        return "-"
    size = abs(value if size is None else size)
    whole = size >= 100 or (value == int(value) and value == size)
    return f"{value:,.{0 if whole else 1 if size >= 10 else 2}f}"


def plus_minus(estimate: Estimate) -> str:
    """Return a mean with its standard error."""
    return f"{number(estimate.mean)} ± {number(estimate.error, estimate.mean)}"


def percent(share: float) -> str:
    """Return a share as per cent."""
    return f"{share:.1%}".replace("%", " %")


def _interval(estimate: Estimate) -> str:
    if math.isnan(estimate.error):
        return "-"
    low, high = (number(value, estimate.mean) for value in (estimate.low, estimate.high))
    return f"{low} to {high}"


def _share_interval(rate: Rate) -> str:
    return f"{100 * rate.low:.1f} to {percent(rate.high)}"


def data(results: Results, losses: Sequence[Regret] = ()) -> dict[str, object]:
    """Return everything as plain values: summaries, comparisons, regrets, and every game."""
    tournament = results.tournament
    head: dict[str, object] = {"format": FORMAT, "version": VERSION, "complete": results.complete}
    if losses:
        head["regret"] = [_regret_data(each) for each in losses]
    return head | {
        "rules": str(tournament.rules),
        "seed": tournament.seed,
        "games": tournament.games,
        "players": [_summary_data(each, results) for each in summaries(results)],
        "comparisons": [_comparison_data(each) for each in comparisons(results)],
    }


def _summary_data(each: PlayerSummary, results: Results) -> dict[str, object]:
    values = asdict(each) | {
        "score": _estimate_data(each.score),
        "moves": _estimate_data(each.moves),
        "moves_per_second": _finite(each.moves_per_second),
        "quantiles": {str(share): value for share, value in each.quantiles.items()},
        "tiles": {str(tile): _rate_data(rate) for tile, rate in each.tiles.items()},
    }
    names = [name for name in GAME_COLUMNS if name != "player"]
    games = results.of(each.player).values()
    return values | {"played": [{name: getattr(game, name) for name in names} for game in games]}


def _comparison_data(each: Comparison) -> dict[str, object]:
    changes = {"difference": _estimate_data(each.difference), "won": _rate_data(each.won)}
    return asdict(each) | changes


def _regret_data(each: Regret) -> dict[str, object]:
    return {
        "player": each.player,
        "per_game": _estimate_data(each.per_game),
        "per_move": _estimate_data(each.per_move),
        "best_moves": _rate_data(each.best_moves),
    }


def _estimate_data(estimate: Estimate) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in asdict(estimate).items()}


def _rate_data(rate: Rate) -> dict[str, float]:
    return asdict(rate) | {"share": rate.share}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def csv_text(results: Results) -> str:
    """Return a table with a line for each game, the players in their order."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(GAME_COLUMNS)
    writer.writerows(_game_rows(results))
    return file.getvalue()


def _game_rows(results: Results) -> Iterator[list[object]]:
    for spec in results.tournament.players:
        for game in results.of(spec).values():
            yield [getattr(game, name) for name in GAME_COLUMNS]
