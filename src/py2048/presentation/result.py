"""The result of a game as numbers and text, for the window, the terminal and the web.

`GameScreen.cover` receives a `Result` when a game is won or over.

Screens show the type of game (`kind`) in small type above the `headline` in large type. If the
result is final, screens show the `figures` as cards in a row. Figures that are `PENDING` arrive
with the review, so screens reserve space for them. The sentence `place` and the histogram `bars`
compare the score with other games, if there are any. In the histogram, the bar of this game has the
accent colour and is labelled with its score. `low_and_high` returns the labels of the axis.

After the end of a game, players can share the result, open the review, watch the game or start a
new game. Players can also undo the last move if the session allows undo. After a win, players can
continue or start a new game. The terminal shows the `title` of a game in progress instead of the
`kind`.

When the review is complete, `GameScreen.cover` is called again to update the figures without a
delay or a fade (see `Result.is_update_of`). `cover(None)` removes the result. The delays are in
`themes.MOTION_MS`.

>>> result = result_of("Classic", 8688, largest=512, moves=540, earlier=[12_400, 52, 12])
>>> result.headline
'8,688 points. 3,712 short of your best.'
>>> [figure.value for figure in result.reviewed(90.9, "good", mistakes=4).figures]
['512', '91 %', 'good', '540']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import _, ngettext, number
from py2048.presentation.screen import moves as moves_text
from py2048.presentation.words import accuracy_text, level_name, luck_word

if TYPE_CHECKING:
    from py2048.review import Review
    from py2048.review.levels import Level
    from py2048.review.milestones import Milestone

PENDING = "…"
"""Placeholder for a figure that is being computed."""

UNAVAILABLE = "\N{EN DASH}"
"""Placeholder for an unavailable figure."""

BARS = 18
"""Number of bars in the histogram."""

MIN_GAMES = 3
"""Histograms are shown only if there are at least this many other games."""

_MIN_PERCENT_GAMES = 10  # With fewer games, a percentage would look too precise.
_HISTOGRAM_QUANTILE = 0.97  # Higher scores share the last bar.
_ROUND_STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


class Statistic(NamedTuple):
    """A labelled number."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result shown when a game is won, and when it is over.

    Attributes:
        kind: Type of game, such as "Classic" or "Daily · 26 November".
        headline: The points, and a comparison with the player's other games.
        score: Points.
        largest: Largest tile.
        moves: Number of moves.
        streak: Number of consecutive days on which the player finished the daily game, or None for
            other games.
        accuracy: Accuracy of the moves, as text.
        luck: Luck in a word.
        mistakes: Number of mistakes that the review highlights, or None before the review is
            complete.
        place: Sentence that compares the score with other games, or empty.
        bars: Number of games in each range of scores, or empty if there are too few games.
        mine: Index of this game's bar.
        high: The score at the right end of the histogram.
        is_open: Whether the last bar also counts scores above `high`.
        has_won: Whether a person reached the winning tile.
        level: Player level of the review. For perfect play, `level` is empty and luck is shown
            instead.
        is_final: Whether the game is over. A game that was won may still be in progress.
        race: Times of the milestones that the player reached, or empty if milestones are hidden.
    """

    kind: str
    headline: str
    score: int
    largest: int
    moves: int
    streak: int | None = None
    accuracy: str = PENDING
    luck: str = PENDING
    mistakes: int | None = None
    place: str = ""
    bars: tuple[int, ...] = ()
    mine: int = 0
    high: int = 0
    is_open: bool = False
    has_won: bool = False
    level: str = ""
    is_final: bool = True
    race: tuple[Statistic, ...] = ()

    @property
    def title(self) -> str:
        """The outcome of the game in a word or two."""
        if not self.is_final:
            return _("You made {tile}").format(tile=self.largest)
        return _("You win") if self.has_won else _("Game over")

    @property
    def figures(self) -> list[Statistic]:
        """The figures to show as cards, such as the largest tile and the accuracy."""
        last = Statistic(_("Moves"), number(self.moves))
        if self.streak is not None:
            days = ngettext("{n} day", "{n} days", self.streak).format(n=number(self.streak))
            last = Statistic(_("Streak"), days)
        return [
            Statistic(_("Largest"), number(self.largest)),
            Statistic(_("Accuracy"), self.accuracy),
            Statistic(_("Level"), self.level) if self.level else Statistic(_("Luck"), self.luck),
            last,
        ]

    @property
    def review(self) -> str:
        """Label of the review button."""
        if not self.mistakes:
            return _("Review")
        text = ngettext("Review {n} mistake", "Review {n} mistakes", self.mistakes)
        return text.format(n=number(self.mistakes))

    @property
    def words(self) -> str:
        """The result as text for sharing."""
        return f"2048 \N{MIDDLE DOT} {self.kind}: {self.headline}"

    @property
    def low_and_high(self) -> tuple[str, str]:
        """Labels of the lower and upper end of the histogram's axis."""
        return number(0), number(self.high) + "+" * self.is_open

    def reviewed(
        self, accuracy: float | None, luck: str, mistakes: int, level: Level | None = None
    ) -> Result:
        """Return a copy with a review's accuracy, luck, number of mistakes and level."""
        known = replace(self, accuracy=accuracy_text(accuracy, 0), mistakes=mistakes)
        return replace(known, luck=luck or UNAVAILABLE, level=level_name(level) if level else "")

    def with_review(self, review: Review | None) -> Result:
        """Return a copy with a review's results, or with placeholders if there is no review."""
        if review is None:
            return self.without_review(UNAVAILABLE)
        luck = luck_word(review.luck, review.swing)
        return self.reviewed(review.accuracy, luck, len(review.moments), review.level)

    def without_review(self, why: str) -> Result:
        """Return a copy that shows why the game has no review."""
        return replace(self, accuracy=why, luck=UNAVAILABLE)

    def is_update_of(self, other: Result | None) -> bool:
        """Return whether this result equals `other`, ignoring the figures of the review."""
        return other is not None and self == replace(
            other, luck=self.luck, level=self.level, accuracy=self.accuracy, mistakes=self.mistakes
        )


def result_of(
    kind: str,
    score: int,
    *,
    largest: int,
    moves: int,
    target: int | None = None,
    is_final: bool = True,
    best: int | None = None,
    earlier: Iterable[int] | Mapping[int, int] = (),
    today: Sequence[int] = (),
    field: Sequence[int] | None = None,
    streak: int | None = None,
    level: str = "",
    is_by_computer: bool = False,
    is_continued: bool = False,
    battle: str = "",
    race: Iterable[Milestone] = (),
) -> Result:
    """Return the result of a game that has not been reviewed yet.

    Args:
        kind: Type of game.
        score: Points.
        largest: Largest tile.
        moves: Number of moves.
        target: Winning tile, if any.
        is_final: Whether the game is over. A game that was won may still be in progress.
        best: Best score of the player's other games of this type. Defaults to the best of
            `earlier`.
        earlier: The player's other scores in this type of game, as a list or as a mapping from
            scores to counts.
        today: Scores of the games in `earlier` that ended today.
        field: For a daily game, the scores of all other players on the same day. Other games are
            compared with `earlier`.
        streak: For a daily game, the number of consecutive days, as in `Result`.
        level: Level of the review, or empty for perfect play.
        is_by_computer: Whether a computer player made any of the moves. Games with computer moves
            cannot set a best score and are not reviewed automatically.
        is_continued: Whether the game continues a record. Continued games cannot set a best score.
        battle: For a game in a battle, a sentence about the winner, which replaces the comparison.
        race: The milestones of the game, if milestones are shown.
    """
    is_daily, others = field is not None, Counter(earlier if field is None else field)
    best = max(earlier, default=None) if best is None else best
    points = ngettext("{n} point.", "{n} points.", score).format(n=number(score))
    has_won = target is not None and largest >= target and not is_by_computer and not battle
    won = _("You made {tile}: you win.").format(tile=number(target or largest)) if has_won else ""
    rank = "" if has_won and best is None else _comparison(score, best, today, is_daily=is_daily)
    if is_by_computer:
        rank = _("Played by a computer, so it does not count as your best.")
    elif is_continued:
        rank = _("Continued from a record, so it does not count as your best.")
    headline = " ".join(filter(None, (battle or won, points, "" if battle else rank)))
    facts = kind, headline, score, largest, moves, streak
    made = tuple(race_rows(each for each in race if each.pace and not is_by_computer))
    result = Result(*facts, has_won=has_won, is_final=is_final, level=level, race=made)
    if is_by_computer or not moves or not is_final:
        return result.without_review(UNAVAILABLE)
    result = replace(result, place=_place(score, others, is_daily=is_daily))
    return result if others.total() < MIN_GAMES else _with_bars(result, others)


def race_rows(race: Iterable[Milestone]) -> list[Statistic]:
    """Describe each milestone: its time, the difference from the best time, and its moves."""
    return [Statistic(number(each.tile), _milestone_text(each)) for each in race]


def _milestone_text(milestone: Milestone) -> str:
    found, best = milestone.pace or milestone.best, milestone.best
    if found is None:
        return UNAVAILABLE
    time = time_text(found.millis)
    parts = [time if milestone.pace else _("best {time}").format(time=time)]
    if best and best != found:
        parts.append(time_text(found.millis - best.millis, signed=True))
    return " \N{MIDDLE DOT} ".join([*parts, moves_text(found.moves)])


def time_text(millis: int, *, tenths: bool = True, signed: bool = False) -> str:
    """Format a duration.

    >>> time_text(112_340), time_text(-3_200, signed=True), time_text(3_600_000, tenths=False)
    ('1:52.3', '-0:03.2', '1:00:00')
    """
    seconds, tenth = divmod(abs(millis) // 100, 10)
    clock = f"{timedelta(seconds=seconds)}".removeprefix("0:").removeprefix("0")
    sign = "-" if millis < 0 else "+"
    return sign * signed + clock + number(tenth / 10, 1)[1:] * tenths


def _comparison(score: int, best: int | None, today: Sequence[int], *, is_daily: bool) -> str:
    """Return a sentence that compares a score with other games."""
    if best is None:
        return _("Your first daily.") if is_daily else _("A first score to beat.")
    if score > best:
        return _("Your best daily.") if is_daily else _("Your best yet.")
    if score == best:
        return _("Equals your best.")
    if today and score > max(today):
        return _("Your best today.")
    return _("{n} short of your best.").format(n=number(best - score))


def _place(score: int, others: Counter[int], *, is_daily: bool) -> str:
    """Return a sentence that compares a score with other scores."""
    count, below = others.total(), sum(n for each, n in others.items() if each < score)
    if is_daily and not count:
        return _("You are the first on these tiles.")
    if is_daily:
        text, place = _("Place {place} of {count} on the same tiles."), place_of(score, others)
        return text.format(place=number(place), count=number(count + 1))
    if count < MIN_GAMES or not below:
        return ""  # the headline already compares the score with the best score
    share = f"{100 * below // count} %"
    few = _("Better than {below} of your {count} other games")
    many = _("Better than {share} of your {count} games")
    text = few if count < _MIN_PERCENT_GAMES else many
    return text.format(below=below, share=share, count=number(count))


def quantile(games: Counter[int], share: float) -> int:
    """Return a quantile of the scores: the score that the given share of games does not exceed.

    Args:
        games: Number of games by score. There must be at least one game.
        share: Share of the games, such as 0.5 for the (lower) median.
    """
    index, scores = int(share * (games.total() - 1)), sorted(games)
    ends = accumulate(map(games.__getitem__, scores))
    return next(score for score, end in zip(scores, ends, strict=True) if end > index)


def place_of(score: int, others: Counter[int]) -> int:
    """Return the place of a score. Equal scores have the same place."""
    return 1 + sum(n for other, n in others.items() if other > score)


def _with_bars(result: Result, others: Counter[int]) -> Result:
    """Return a copy with the histogram of all scores.

    The last bar includes outliers, so that they do not compress the other bars.
    """
    games = others + Counter([result.score])
    high = _rounded_up(max(quantile(games, _HISTOGRAM_QUANTILE), result.score, 10))
    bars = [0] * BARS
    for each, count in games.items():
        bars[min(max(each, 0) * BARS // high, BARS - 1)] += count
    mine = min(max(result.score, 0) * BARS // high, BARS - 1)
    return replace(result, bars=tuple(bars), mine=mine, high=high, is_open=max(games) > high)


def _rounded_up(value: int) -> int:
    """Round up to a round number.

    >>> _rounded_up(8688), _rounded_up(10), _rounded_up(31_000)
    (10000, 10, 40000)
    """
    power = 10 ** (len(str(value)) - 1)
    return next(int(step * power) for step in _ROUND_STEPS if step * power >= value)
