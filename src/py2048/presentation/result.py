"""`Result`: what the end of a game shows, in numbers and texts. Window, terminal and web share it.

A screen gets one by `GameScreen.cover` when a game is won or over, and draws it:

- `kind`, small, over `headline`, large; `title` is for where there is room for one word only;
- `figures` as cards side by side: those with the value `PENDING` come with the review, so their
  place is kept and nothing moves when they come;
- `place`, a sentence, over `bars`, with the bar `mine` in the accent colour; `low` and `high` stand
  below its ends, the score below its own bar. Without `bars` there is neither;
- buttons: a final result has "Share", `review`, "Watch" and "New game", and "Undo the last move"
  where the session's game can be undone; one that is not final has "Keep playing" and "New game".

When the review of the game has come, `cover` is called again with the same result and its figures:
draw it at once, without waiting or fading again (`result.is_update_of(shown)` tells). `None` takes
it away. `MOTION_MS` of `themes` says how long to wait for the last move, and to fade.

>>> result = result_of("Classic", 8688, largest=512, moves=540, earlier=[12_400, 52, 12])
>>> result.headline
'8,688 points. 3,712 short of your best.'
>>> [figure.value for figure in result.reviewed(90.9, "good", mistakes=4).figures]
['512', '91 %', 'good', '540']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import _, ngettext, number
from py2048.presentation.words import luck_word

if TYPE_CHECKING:
    from py2048.review import Review

PENDING = "…"
"""The value of a figure that is being worked out."""

NONE = "\N{EN DASH}"
"""The value of a figure that there is not."""

BARS = 18
"""The bars of a distribution."""

MIN_GAMES = 3
"""With fewer games to compare with there is no distribution."""

_FEW = 10
_USUAL = 0.97
_ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


class Figure(NamedTuple):
    """A number of a result, and what it is."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Result:
    """What the end of a game shows, or the moment in which it is won.

    Attributes:
        kind: what was played, such as "Classic" or "Daily · 26 November".
        headline: the points, and how they compare with the player's other games.
        score: the points.
        largest: the largest tile.
        moves: how many were made.
        streak: on how many days in a row the daily board was played; None for other games.
        accuracy: that of the moves, as a text.
        luck: what the new tiles gave or took, in a word.
        mistakes: how many the review found, None until it has come.
        place: the game among others, as a sentence; empty if there are none.
        bars: how many games there are for each step of the score; empty where they are few.
        mine: the bar of this game.
        high: the score at the right end of the bars.
        is_open: whether the last bar has the games above that, too.
        has_won: whether a person made the tile that wins.
        is_final: whether the game is over; otherwise it can go on.
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
    is_final: bool = True

    @property
    def title(self) -> str:
        """How the game stands, in a word or two."""
        if not self.is_final:
            return _("You made {tile}").format(tile=self.largest)
        return _("You win") if self.has_won else _("Game over")

    @property
    def figures(self) -> list[Figure]:
        """The cards: the largest tile, accuracy, luck, and the streak or the moves."""
        last = Figure(_("Moves"), number(self.moves))
        if self.streak is not None:
            days = ngettext("{n} day", "{n} days", self.streak).format(n=number(self.streak))
            last = Figure(_("Streak"), days)
        return [
            Figure(_("Largest"), number(self.largest)),
            Figure(_("Accuracy"), self.accuracy),
            Figure(_("Luck"), self.luck),
            last,
        ]

    @property
    def review(self) -> str:
        """What the button to the review says."""
        if not self.mistakes:
            return _("Review")
        said = ngettext("Review {n} mistake", "Review {n} mistakes", self.mistakes)
        return said.format(n=number(self.mistakes))

    @property
    def words(self) -> str:
        """The result as a text to share."""
        return f"2048 \N{MIDDLE DOT} {self.kind}: {self.headline}"

    @property
    def low_and_high(self) -> tuple[str, str]:
        """What stands below the ends of the bars."""
        return number(0), number(self.high) + "+" * self.is_open

    def reviewed(self, accuracy: float, luck: str, mistakes: int) -> Result:
        """Return the result with what the review has found."""
        return replace(self, accuracy=f"{accuracy:.0f} %", luck=luck, mistakes=mistakes)

    def with_review(self, review: Review | None) -> Result:
        """Return the result with a review, `None` where there can be none."""
        if review is None:
            return self.without_review(NONE)
        luck = luck_word(review.luck, review.swing) or NONE
        return self.reviewed(review.accuracy, luck, len(review.mistakes))

    def without_review(self, why: str) -> Result:
        """Return the result of a game that is not reviewed, and why in a word."""
        return replace(self, accuracy=why, luck=NONE)

    def is_update_of(self, other: Result | None) -> bool:
        """Say whether another result is of the same end of the same game."""
        if other is None:
            return False
        found = {"accuracy": self.accuracy, "luck": self.luck, "mistakes": self.mistakes}
        return self == replace(other, **found)  # type: ignore[arg-type]  # as they are fields


def result_of(
    kind: str,
    score: int,
    *,
    largest: int,
    moves: int,
    target: int | None = None,
    is_final: bool = True,
    earlier: Sequence[int] = (),
    today: Sequence[int] = (),
    field: Sequence[int] | None = None,
    streak: int | None = None,
    is_by_computer: bool = False,
) -> Result:
    """Return what the end of a game shows before its review has come.

    Args:
        kind: what the game is called.
        score: its points.
        largest: its largest tile.
        moves: how many were made.
        target: the tile that wins it, if any.
        is_final: whether it is over; otherwise it is won, and continues.
        earlier: the scores of the player's other games of the kind.
        today: those of them that ended today.
        field: the scores of all others on the same tiles, for a daily game; by default it is
            compared with the `earlier` ones.
        streak: the days in a row, for a daily game.
        is_by_computer: whether a computer player made a move of it: it is not a best then,
            and not reviewed by itself.
    """
    is_daily = field is not None
    points = ngettext("{n} point.", "{n} points.", score).format(n=number(score))
    if is_by_computer:
        compared = _("Played by a computer.")
    else:
        compared = _compared(score, earlier, today, is_daily=is_daily)
    others = earlier if field is None else field
    has_won = target is not None and largest >= target and not is_by_computer
    facts = kind, f"{points} {compared}", score, largest, moves, streak
    result = Result(*facts, has_won=has_won, is_final=is_final)
    if is_by_computer or not moves or not is_final:
        return result.without_review(NONE)
    result = replace(result, place=_place(score, others, is_daily=is_daily))
    if len(others) < MIN_GAMES:
        return result
    bars, mine, high, is_open = _distribution(score, others)
    return replace(result, bars=bars, mine=mine, high=high, is_open=is_open)


def _compared(score: int, earlier: Sequence[int], today: Sequence[int], *, is_daily: bool) -> str:
    """Return the one thing that is worth saying of a score."""
    if not earlier:
        return _("Your first daily.") if is_daily else _("A first score to beat.")
    best = max(earlier)
    if score > best:
        return _("Your best daily.") if is_daily else _("Your best yet.")
    if score == best:
        return _("Your best, again.")
    if today and score > max(today):
        return _("Your best today.")
    return _("{n} short of your best.").format(n=number(best - score))


def _place(score: int, others: Sequence[int], *, is_daily: bool) -> str:
    """Return a score's place among others in a sentence."""
    count, below = len(others), sum(other < score for other in others)
    if not count:
        return _("You are the first on these tiles.") if is_daily else ""
    share = f"{100 * below // count} %"
    few = _("Better than {below} of your {count} other games")
    many = _("Better than {share} of your {count} games")
    if is_daily:
        few = _("Better than {below} of {count} other games on the same tiles")
        many = _("Better than {share} of {count} games on the same tiles")
    said = few if count < _FEW else many
    return said.format(below=below, share=share, count=number(count))


def _distribution(score: int, others: Sequence[int]) -> tuple[tuple[int, ...], int, int, bool]:
    """Return the bars, which is this game's, the score at their end, and whether more is there.

    A few very high scores do not press all others into the first bars: they stand in the last.
    """
    ranked = sorted(max(each, 0) for each in (*others, score))
    usual = ranked[int(_USUAL * (len(ranked) - 1))]
    high = _rounded_up(max(usual, score, 10))
    bars = [0] * BARS
    for each in ranked:
        bars[min(each * BARS // high, BARS - 1)] += 1
    mine = min(max(score, 0) * BARS // high, BARS - 1)
    return tuple(bars), mine, high, ranked[-1] > high


def _rounded_up(value: int) -> int:
    """Return the next round number.

    >>> _rounded_up(8688), _rounded_up(10), _rounded_up(31_000)
    (10000, 10, 40000)
    """
    power = 10 ** (len(str(value)) - 1)
    return next(int(step * power) for step in _ROUND if step * power >= value)
