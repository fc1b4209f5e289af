"""Wording of moves, grades, luck and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

from py2048.core.direction import Direction
from py2048.core.language import N_, _, ngettext, number
from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.levels import LEVELS, Goals, Level, TileShare
from py2048.review.moves import Grade, MoveReview
from py2048.review.reasons import Habit, ReasonKind

_LUCK = (N_("average"), N_("good"), N_("very good"))
_BAD_LUCK = (N_("average"), N_("bad"), N_("very bad"))


def grade_word(grade: Grade, count: int) -> str:
    """Return the name of a grade, in the singular or plural form for `count` moves."""
    words = {
        Grade.BEST: ngettext("best", "best", count),
        Grade.GOOD: ngettext("good", "good", count),
        Grade.INACCURACY: ngettext("inaccuracy", "inaccuracies", count),
        Grade.MISTAKE: ngettext("mistake", "mistakes", count),
        Grade.BLUNDER: ngettext("blunder", "blunders", count),
    }
    return words[grade]


_NAMES = dict(zip(Direction, (N_("Up"), N_("Down"), N_("Left"), N_("Right")), strict=True))


def name_of(direction: Direction) -> str:
    """Return the name of a direction for the start of a sentence, such as "Left"."""
    return _(_NAMES[direction])


_WAYS = dict(zip(Direction, (N_("up"), N_("down"), N_("left"), N_("right")), strict=True))


def way_of(direction: Direction) -> str:
    """Return the name of a direction for use within a sentence, such as "left"."""
    return _(_WAYS[direction])


_REASONS = {
    ReasonKind.ENDED: (
        N_("game at risk"),
        N_("You risk an early end"),
        N_("After {played}, {here} of 100 games end within 20 moves; after {best}, {there}."),
    ),
    ReasonKind.CORNER: (
        N_("corner left"),
        N_("You leave the corner"),
        N_(
            "Ten moves after {played}, {tile} is out of its corner in {here} of 100 games; after"
            " {best}, in {there}."
        ),
    ),
    ReasonKind.TRAPPED: (
        N_("small tile stuck"),
        N_("You trap small tiles"),
        N_(
            "After {played}, the {tile} is stuck behind the {behind} for {here} moves;"
            " after {best}, for {there}."
        ),
    ),
    ReasonKind.MEETING: (
        N_("equal tiles apart"),
        N_("You split equal tiles"),
        N_(
            "After {played}, the two {tile} tiles need {here} moves to meet; after {best}, {there}."
        ),
    ),
    ReasonKind.ROOM: (
        N_("board filled up"),
        N_("You fill the board"),
        N_("Five moves after {played}, {here} cells are free on average; after {best}, {there}."),
    ),
}
"""Three texts for each reason for a mistake: a name, the bad habit, and a sentence with numbers."""

_MAKE = N_("{n} of 100 games like yours make {tile}")
_LAST = N_("{n} of 100 games like yours last 20 more moves")
_GAMES_AFTER, _N_AFTER = N_("{games} after {direction}"), N_("{n} after {direction}")


def reason_name(kind: ReasonKind) -> str:
    """Return the name of a kind of reason, such as "corner left"."""
    return _(_REASONS[kind][0])


def reason_text(move: MoveReview) -> str:
    """Return a sentence about a move's reason, with tiles and counts, or "" if it is unknown."""
    if not (reason := move.reason):
        return ""
    digits = int(reason.kind is ReasonKind.ROOM)
    numbers = reason.numbers
    tiles = {name: number(numbers[name]) for name in ("tile", "behind") if name in numbers}
    return _(_REASONS[reason.kind][2]).format(
        played=name_of(move.played), best=name_of(move.best), **tiles,
        here=number(numbers["played"], digits), there=number(numbers["best"], digits),
    )  # fmt: skip


def habit_text(habit: Habit) -> str:
    """Return a sentence that says how often a habit occurs and what it costs on average."""
    cost = max(round(100 * habit.cost), 1)
    name, text = _(_REASONS[habit.kind][1]), _habit_sentence(habit.count)
    return text.format(habit=name, count=number(habit.count), cost=number(cost))


def _habit_sentence(count: int) -> str:
    return ngettext(
        "{habit}: once, {cost} of 100 games lost",
        "{habit}: {count} times, {cost} of 100 games lost each",
        count,
    )


def level_name(level: Level | None) -> str:
    """Return the name of a level, such as "Casual", "Casual (0.17)" or "Perfect"."""
    if level is None:
        return _("Perfect")
    nearest = min(LEVELS, key=lambda each: abs(log(each.slip / level.slip)))
    name = _(_LEVEL_NAMES[LEVELS.index(nearest)])
    return name if nearest.slip == level.slip else f"{name} ({number(level.slip, 2)})"


def fit_text(level: Level, shares: Iterable[TileShare]) -> str:
    """Return a sentence that compares a player's largest tiles with those of the level."""
    text = _("{tile} in {n} of 100 games, expected {expected}")
    made = (
        text.format(tile=number(tile), n=per_100(observed), expected=per_100(expected))
        for tile, observed, expected in shares
    )
    return f"{level_name(level)}: {'; '.join(made)}."


_LEVEL_NAMES = N_("Beginner"), N_("Casual"), N_("Practised"), N_("Strong"), N_("Expert")


def outcome_text(move: MoveReview, directions: Sequence[Direction]) -> str:
    """Describe how many games in 100 reach the goal after each of the given moves.

    Example: "62 of 100 games like yours make 512 after Left; 48 after Down."
    """
    first, *others = directions
    start = _(_GAMES_AFTER).format(games=games_text(move, first), direction=name_of(first))
    rest = [
        _(_N_AFTER).format(n=per_100(move.values[each]), direction=name_of(each)) for each in others
    ]
    return f"{'; '.join([start, *rest])}."


def games_text(move: MoveReview, direction: Direction) -> str:
    """Describe a move's chance of the goal, as in "62 of 100 games like yours make 512"."""
    text, tile = _LAST if move.survival else _MAKE, number(move.goal.tile) if move.goal else ""
    return _(text).format(n=per_100(move.values[direction]), tile=tile)


def goals_text(move: MoveReview) -> str:
    """Return the chances of the next two goals, as in "512: 62 %, 1,024: 8 %"."""
    if move.goal is None:
        return ""
    chances = dict(zip(move.goal, (move.values, move.next_values), strict=True))
    if move.survival:
        return _("20 more moves: {chance}").format(chance=percent(move.values[move.best]))
    return ", ".join(
        f"{number(tile)}: {percent(values[move.best])}"
        for tile, values in chances.items()
        if move.best in values
    )


def why_text(move: MoveReview) -> str:
    """Describe the cost of a move and, if known, the reason. Return "" for the best move."""
    if move.played is move.best or not move.goal:
        return ""
    texts = outcome_text(move, [move.best, move.played]), reason_text(move)
    return " ".join(filter(None, texts))


def goal_text(goal: Goals, made: int) -> str:
    """Return the message for a new largest tile."""
    text = _("You made {made}. Next: {tile}.")
    return text.format(made=number(made), tile=number(goal.tile))


def sentences() -> dict[str, object]:
    """Return the translated texts that web pages use to show hints and reviews offline."""
    return {
        "make": _(_MAKE), "last": _(_LAST), "games": _(_GAMES_AFTER), "also": _(_N_AFTER),
        "reasons": {kind: [*map(_, texts)] for kind, texts in _REASONS.items()},
        "habit": [*map(_habit_sentence, (1, 2))],
        "grades": {grade: [grade_word(grade, count) for count in (1, 2)] for grade in Grade},
        "accuracy": [accuracy_text(None), accuracy_note(None), accuracy_note(100)],
    }  # fmt: skip


def per_100(share: float) -> str:
    """Format a probability as the number of games in 100."""
    return number(100 * share)


def percent(share: float) -> str:
    """Format a share as a percentage, such as "15 %", "0.4 %" or "0 %"."""
    return f"{number(100 * share, int(0.0005 <= share < 0.095))} %"


def accuracy_note(accuracy: float | None) -> str:
    """Return a line of text that explains an accuracy."""
    if accuracy is None:
        return _("Accuracy is known after ten moves that matter.")
    return _("Accuracy: random moves 0 %, the best 100 %.")


def accuracy_text(accuracy: float | None, decimals: int = 1) -> str:
    """Format an accuracy, such as "82.3 %", or "not yet" if it is unknown."""
    return _("not yet") if accuracy is None else f"{number(accuracy, decimals)} %"


def luck_word(luck: float, swing: float) -> str:
    """Describe luck in a word or two, such as "good", or return "" for a game without randomness.

    The word depends on the ratio of the luck to its standard deviation in this game. If the board
    is nearly full for much of a game, single spawns matter more and the deviation is larger. Two
    games in three have "average" luck, and one game in twenty has "very good" or "very bad" luck,
    regardless of skill.

    Args:
        luck: Total luck of the game.
        swing: Standard deviation of the luck (see `Review.swing`).
    """
    words = _LUCK if luck >= 0 else _BAD_LUCK
    return _(words[min(int(abs(luck) / swing), 2)]) if swing else ""


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a text table, with the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in rows
    )


def plain_amount(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Format a loss or luck value without the word "points", as in "1,203", "+3.4" or "0.42 %".

    Values below ten have one decimal.
    """
    scaled = 100 * value if unit is Unit.CHANCE else value
    digits = 2 if unit is Unit.CHANCE else int(abs(scaled) < 9.95)
    text = number(scaled, digits, signed=signed)
    is_zero = not text.strip("+-0.,")
    return ("0" if is_zero else text) + (" %" if unit is Unit.CHANCE else "")


def amount(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Format a value with its unit, as in ``1,203 points`` or ``4.20 %``. Ratings have no unit."""
    text = plain_amount(unit, value, signed=signed)
    return ngettext("{n} point", "{n} points", 2).format(n=text) if unit is Unit.POINTS else text


def describe_review(review: Review, *, brief: bool = False) -> list[str]:
    """Return a review's summary as lines of text, without a list of moves.

    Args:
        review: The review to summarise.
        brief: Whether to omit the judge, the totals and the phases.
    """
    text = _("accuracy {accuracy}") if brief else _("accuracy {accuracy}, judged by {judge}")
    if review.level:
        text = _("accuracy at level {level}: {accuracy}")
    accuracy, level = accuracy_text(review.accuracy), level_name(review.level)
    lines = [text.format(accuracy=accuracy, level=level, judge=_(review.judge))]
    lines += [] if brief else [accuracy_note(review.accuracy)]
    if len(review.moves) < review.record.plies:
        text = _("reviewed: {done} of {count} moves")
        done, count = number(len(review.moves)), number(review.record.plies)
        lines.append(text.format(done=done, count=count))
    if not review.moves:
        return lines
    counts = counted(review.counts)
    lines.append(_("moves: {counts}").format(counts=", ".join(counts)))
    if review.level:
        games = _("chances: in 100 games played on from each move at this level")
        return [*lines, *([] if brief else [games]), *map(habit_text, review.habits)]
    if not brief:
        return [*lines, *_sums(review)]
    luck = luck_word(review.luck, review.swing)
    return [*lines, *([_("luck: {luck}").format(luck=luck)] if luck else [])]


def counted(counts: Mapping[Grade, int]) -> list[str]:
    """List the number of moves for each grade that occurs, as in "3 mistakes"."""
    return [f"{number(n)} {grade_word(grade, n)}" for grade, n in counts.items() if n]


def _sums(review: Review) -> list[str]:
    """Describe the total loss, the luck, and the phase with the largest loss."""
    unit, phase = review.unit, review.worst_phase
    outcome = _("the moves lost {points}") if review.loss >= 0 else _("the moves gained {points}")
    outcome = outcome.format(points=amount(unit, abs(review.loss)))
    if unit is Unit.POINTS:
        text = _("{points} were expected at the start; {rest}")
        outcome = text.format(points=amount(unit, review.expected), rest=outcome)
    text = _("luck gave {points}") if review.luck >= 0 else _("luck took {points}")
    text += _(", and up to {swing} either way is usual in such a game") if review.swing else ""
    gave, swing = amount(unit, abs(review.luck)), amount(unit, review.swing)
    lines = [outcome, text.format(points=gave, swing=swing)]
    if phase and plain_amount(unit, phase.loss) != "0":
        lost = amount(unit, phase.loss)
        text = _("most was lost with {tile} as the largest tile: {points}, moves {first} to {last}")
        lines.append(text.format(tile=phase.tile, points=lost, first=phase.first, last=phase.last))
    return lines


def describe_move(review: Review, move: MoveReview) -> str:
    """Describe the grade of a move, its loss and the better move."""
    grade, played = grade_word(move.grade, 1), way_of(move.played)
    if move.played is move.best:
        return f"{move.ply}. {played}: {grade}"
    facts = {"ply": move.ply, "grade": grade, "played": played, "best": way_of(move.best)}
    if move.goal:
        text = _("move {ply}, {grade}: you went {played}, and {best} was best. {why}")
        return text.format(**facts, why=why_text(move))
    text = _("{ply}. {played}, {grade}: lost {points}, {share} of the chances; best was {best}")
    points, share = amount(review.unit, move.loss), percent(move.share)
    return text.format(points=points, share=share, **facts)
