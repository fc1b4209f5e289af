"""The end of a game as numbers and text, shared by the window, the terminal and the web.

`GameScreen.cover` receives a `Result` when a game is won or over, and draws it:

- The small `kind` above the large `headline`. `title` is for places with room for a single word.
- `figures` as cards in a row. Values that are `PENDING` arrive with the review, so screens
  reserve their space.
- The sentence `place` above the histogram `bars`, with the bar `mine` in the accent colour. Both
  ends of the axis are labelled (`low_and_high`), and the score stands below its bar. Both `place`
  and `bars` may be empty.
- Buttons. A final result offers "Share", `review`, "Watch", "New game" and, if the session can
  undo, "Undo the last move". A result that is not final offers "Keep playing" and "New game".

Once the game has been reviewed, `cover` is called again with the completed result, which screens
show at once, without delay or fading (see `Result.is_update_of`). `cover(None)` removes it. The
delays are in `themes.MOTION_MS`.

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
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import _, ngettext, number
from py2048.presentation.words import accuracy_text, level_name, luck_word

if TYPE_CHECKING:
    from py2048.review import Review
    from py2048.review.levels import Level

PENDING = "…"
"""Placeholder for a figure that is being computed."""

UNAVAILABLE = "\N{EN DASH}"
"""Placeholder for an unavailable figure."""

BARS = 18
"""Number of bars in the histogram."""

MIN_GAMES = 3
"""Minimum number of games to compare with for a histogram."""

_MIN_PERCENT_GAMES = 10  # with fewer games, a percentage would look too precise
_HISTOGRAM_QUANTILE = 0.97  # higher scores share the last bar
_ROUND_STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


class Statistic(NamedTuple):
    """A labelled number."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a game, or the moment it is won.

    Attributes:
        kind: Type of game, such as "Classic" or "Daily · 26 November".
        headline: The points, and how they compare with the player's other games.
        score: Points.
        largest: Largest tile.
        moves: Number of moves.
        streak: Consecutive days on which the daily board was played; None for other games.
        accuracy: Accuracy of the moves, as text.
        luck: Luck in a word.
        mistakes: Number of mistakes to look at; None before the review is complete.
        place: Comparison with other games, as a sentence; empty if there are none.
        bars: Games per score range; empty if there are too few games.
        mine: Index of this game's bar.
        high: Score at the right end of the histogram.
        is_open: Whether the last bar also counts games above `high`.
        has_won: Whether a person made the winning tile.
        level: Level at which the moves are judged; empty for perfect play, whose luck is known.
        is_final: Whether the game is over, rather than won and still in progress.
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

    @property
    def title(self) -> str:
        """The outcome in a word or two."""
        if not self.is_final:
            return _("You made {tile}").format(tile=self.largest)
        return _("You win") if self.has_won else _("Game over")

    @property
    def figures(self) -> list[Statistic]:
        """The largest tile, accuracy, level or luck, and the streak or the number of moves."""
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
        """Labels of the histogram's ends."""
        return number(0), number(self.high) + "+" * self.is_open

    def reviewed(
        self, accuracy: float | None, luck: str, mistakes: int, level: Level | None = None
    ) -> Result:
        """Return the result with the figures of its review."""
        known = replace(self, accuracy=accuracy_text(accuracy, 0), mistakes=mistakes)
        name = level_name(level) if level else ""
        return replace(known, luck=luck or UNAVAILABLE, level=name)

    def with_review(self, review: Review | None) -> Result:
        """Return the result with a review, or without one if it is None."""
        if review is None:
            return self.without_review(UNAVAILABLE)
        luck = luck_word(review.luck, review.swing)
        return self.reviewed(review.accuracy, luck, len(review.moments), review.level)

    def without_review(self, why: str) -> Result:
        """Return the result of a game without a review, with the reason in a word."""
        return replace(self, accuracy=why, luck=UNAVAILABLE)

    def is_update_of(self, other: Result | None) -> bool:
        """Return whether another result is for the same end of the same game."""
        if other is None:
            return False
        luck = {"luck": self.luck, "level": self.level}
        review = {"accuracy": self.accuracy, "mistakes": self.mistakes}
        return self == replace(other, **luck, **review)  # type: ignore[arg-type]


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
    battle: str = "",
) -> Result:
    """Return the result of a game before it is reviewed.

    Args:
        kind: Type of game.
        score: Points.
        largest: Largest tile.
        moves: Number of moves.
        target: Winning tile, if any.
        is_final: Whether the game is over, rather than won and still in progress.
        best: Best score of the player's other games of this type; by default that of `earlier`.
        earlier: Scores of these games, or the number of games by score.
        today: Scores of those games that ended today.
        field: For a daily game, everybody else's scores on the same tiles. Without them, the
            comparison is with `earlier`.
        streak: For a daily game, the number of consecutive days.
        level: Level at which the moves are judged, or empty for perfect play.
        is_by_computer: Whether a computer player made any of the moves; then the game sets no best
            score and is not reviewed automatically.
        battle: For a game of a battle, who won it, instead of a comparison.
    """
    is_daily, others = field is not None, Counter(earlier if field is None else field)
    best = max(earlier, default=None) if best is None else best
    sentences = [ngettext("{n} point.", "{n} points.", score).format(n=number(score))]
    has_won = target is not None and largest >= target and not is_by_computer and not battle
    if has_won:
        sentences.insert(0, _("You made {tile}: you win.").format(tile=number(target or largest)))
    if battle:
        sentences.insert(0, battle)
    elif is_by_computer:
        sentences.append(_("Played by a computer, so it does not count as your best."))
    elif best is not None or not has_won:
        sentences.append(_comparison(score, best, today, is_daily=is_daily))
    facts = kind, " ".join(sentences), score, largest, moves, streak
    result = Result(*facts, has_won=has_won, is_final=is_final, level=level)
    if is_by_computer or not moves or not is_final:
        return result.without_review(UNAVAILABLE)
    result = replace(result, place=_place(score, others, is_daily=is_daily))
    if others.total() < MIN_GAMES:
        return result
    bars, mine, high, is_open = _distribution(score, others)
    return replace(result, bars=bars, mine=mine, high=high, is_open=is_open)


def _comparison(score: int, best: int | None, today: Sequence[int], *, is_daily: bool) -> str:
    """Return the most interesting comparison of a score."""
    if best is None:
        return _("Your first daily.") if is_daily else _("A first score to beat.")
    if score > best:
        return _("Your best daily.") if is_daily else _("Your best yet.")
    if score == best:
        return _("Your best, again.")
    if today and score > max(today):
        return _("Your best today.")
    return _("{n} short of your best.").format(n=number(best - score))


def _place(score: int, others: Counter[int], *, is_daily: bool) -> str:
    """Return a sentence that compares a score with others."""
    count, below = others.total(), sum(n for each, n in others.items() if each < score)
    if not count:
        return _("You are the first on these tiles.") if is_daily else ""
    if is_daily:
        text, place = _("Place {place} of {count} on the same tiles."), place_of(score, others)
        return text.format(place=number(place), count=number(count + 1))
    share = f"{100 * below // count} %"
    few = _("Better than {below} of your {count} other games")
    many = _("Better than {share} of your {count} games")
    text = few if count < _MIN_PERCENT_GAMES else many
    return text.format(below=below, share=share, count=number(count))


def quantile(games: Counter[int], share: float) -> int:
    """Return the score that this share of the games does not exceed.

    Args:
        games: Number of games by score, at least one.
        share: 0.5 for the median, the lower one of two.
    """
    index, scores = int(share * (games.total() - 1)), sorted(games)
    ends = accumulate(map(games.__getitem__, scores))
    return next(score for score, end in zip(scores, ends, strict=True) if end > index)


def place_of(score: int, others: Counter[int]) -> int:
    """Return the place of a score; equal scores share one."""
    return 1 + sum(n for other, n in others.items() if other > score)


def _distribution(score: int, others: Counter[int]) -> tuple[tuple[int, ...], int, int, bool]:
    """Return a histogram: bars, index of this game's bar, end of the axis, and `Result.is_open`.

    Outliers are counted in the last bar, so that they do not compress the rest.
    """
    games = others + Counter([score])
    high = _rounded_up(max(quantile(games, _HISTOGRAM_QUANTILE), score, 10))
    bars = [0] * BARS
    for each, count in games.items():
        bars[min(max(each, 0) * BARS // high, BARS - 1)] += count
    mine = min(max(score, 0) * BARS // high, BARS - 1)
    return tuple(bars), mine, high, max(games) > high


def _rounded_up(value: int) -> int:
    """Round up to a round number.

    >>> _rounded_up(8688), _rounded_up(10), _rounded_up(31_000)
    (10000, 10, 40000)
    """
    power = 10 ** (len(str(value)) - 1)
    return next(int(step * power) for step in _ROUND_STEPS if step * power >= value)
