"""The commands ``practice`` and ``puzzle``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.app.storage import open_store
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import DirectionError, Py2048Error, unknown
from py2048.core.language import _
from py2048.core.language import number as written
from py2048.core.rng import random_seed
from py2048.presentation import options
from py2048.presentation.actions import BY_NAME, direction_of_word
from py2048.presentation.streams import StatusLine, are_terminal
from py2048.presentation.words import amount, columns, name_of, percent, reason_name

if TYPE_CHECKING:
    from py2048.app.controller.practice import Drill
    from py2048.app.session.notebook import Notebook, PuzzleBook
    from py2048.players import Unit
    from py2048.review import MoveReview
    from py2048.review.reasons import ReasonKind

QUIT = "q", "quit", "exit"

MAX_LINE = 1000
"""Maximum number of characters to read at once, because the input may lack line breaks."""

_ARROWS = ("\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"), ("\x1bOA", "\x1bOB", "\x1bOD", "\x1bOC")
_ARROWS_OF_WINDOWS = ("\xe0H", "\xe0P", "\xe0K", "\xe0M"), ("\0H", "\0P", "\0K", "\0M")

KEYS = {key: direction for direction in Direction for key in BY_NAME[str(direction)].keys}
"""The direction for each key. Other screens use the same keys. Terminals send arrow keys as escape
sequences.
"""
KEYS |= {
    sent: direction
    for arrows in (*_ARROWS, *_ARROWS_OF_WINDOWS)
    for sent, direction in zip(arrows, Direction, strict=True)
}


def _kinds() -> list[str]:
    from py2048.review.reasons import ReasonKind

    return [kind.value for kind in ReasonKind]


# --- mistakes and endings ------------------------------------------------------------------------


def practice(
    only: Annotated[
        str | None,
        options.taking(
            "KIND", "Only ended, corner, trapped, meeting or room mistakes.", words=_kinds
        ),
    ] = None,
    table: Annotated[
        str | None,
        options.taking(
            "TABLE", "Play an ending from this table (L3-256) instead.", words=options.table_names
        ),
    ] = None,
    count: options.OptionalCount = None,
    seed: options.SeedOption = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Show your progress instead.")
    ] = False,
    json: options.JsonOption = False,
) -> None:
    """Practise mistakes from your games that are due, or an ending with a perfect-play table.

    Answer with keys in a terminal. In a pipe, write one direction per line, such as left. Every
    answer is saved immediately.
    """
    from py2048.app.controller.practice import MAX_DUE, ending, mistakes

    is_narrowed = only is not None or count is not None
    if table is not None and (is_narrowed or statistics):
        raise Py2048Error("--table excludes --only, --count and --statistics: leave it or them out")
    if statistics and is_narrowed:
        raise Py2048Error("--statistics excludes --only and --count: leave it or them out")
    if seed is not None and table is None:
        raise Py2048Error(f"--seed {seed} draws an ending of a --table: give both")
    if table is not None:
        chosen_seed = options.chosen_seed(seed)
        with StatusLine():
            drill = ending(table, random_seed() if chosen_seed is None else chosen_seed)
        _run(drill, as_json=json)
        return
    from py2048.app.session.notebook import Notebook

    kind = None if only is None else _kind(only)
    with open_store() as store:
        notebook = Notebook(store)
        if statistics:
            _show_progress(notebook, json=json)
        else:
            _run(mistakes(notebook, kind, count or MAX_DUE), as_json=json)


def _kind(text: str) -> ReasonKind:
    """Return the kind of mistake with this name.

    Raises:
        Py2048Error: If no kind has this name.
    """
    from py2048.review.reasons import ReasonKind

    if text not in _kinds():
        raise Py2048Error(f"no kind of mistake is called {unknown(text, _kinds())}")
    return ReasonKind(text)


def _show_progress(notebook: Notebook, *, json: bool) -> None:
    from py2048.review.reasons import ReasonKind

    progress = notebook.progress()
    if json:
        options.print_json([vars(each) for each in progress])
        return
    if not progress:
        from py2048.app.controller.practice import HOW_TO_KEEP

        print(_("no mistakes saved yet: {how}").format(how=_(HOW_TO_KEEP)))
        return
    rows = [_("kind of mistake; mistakes; due; known; tries; right; next").split("; ")]
    for each in progress:
        kind = reason_name(ReasonKind(each.theme)) if each.theme else "-"
        counts = map(written, (each.mistakes, each.due, each.known, each.tries))
        right = percent(each.successes / each.tries) if each.tries else "-"
        rows.append([kind, *counts, right, each.next_due[:10]])
    print(columns(rows))


# --- puzzles -------------------------------------------------------------------------------------


def puzzle(
    daily: Annotated[bool, typer.Option("--daily", help="Today's puzzle (UTC).")] = False,
    number: Annotated[
        int | None, options.taking("N", "The puzzle with this number.", "--id")
    ] = None,
    rating: Annotated[
        str | None, options.taking("A-B", "Only puzzles rated from A to B, such as 1200-1500.")
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Show your rating instead.")
    ] = False,
    json: options.JsonOption = False,
) -> None:
    """Solve puzzles: find the best move, as often as you like.

    Puzzles close to your rating alternate with your own due mistakes. With --rating, all puzzles
    have ratings in the given range.

    Only the first answer to a puzzle changes your rating.
    """
    from py2048.app.controller.practice import one_puzzle, puzzles, today
    from py2048.app.session.notebook import MAX_RATING, Notebook, PuzzleBook
    from py2048.review.puzzles import daily_puzzle, get_puzzle

    if sum((daily, number is not None, rating is not None, statistics)) > 1:
        raise Py2048Error(
            "--daily, --id, --rating and --statistics exclude each other: give one of them"
        )
    limits = _range(rating) if rating else (0, MAX_RATING)
    with open_store() as store:
        book = PuzzleBook(store)
        if statistics:
            _show_rating(book, json=json)
        else:
            only = daily_puzzle(today()) if daily else None
            only = only if number is None else get_puzzle(number)
            own = None if rating else Notebook(store)
            drill = one_puzzle(book, only) if only else puzzles(book, own, *limits)
            _run(drill, as_json=json)


def _range(text: str) -> tuple[int, int]:
    """Parse a range of ratings.

    Raises:
        Py2048Error: The text is not a range, or the range contains no puzzle.
    """
    match = re.fullmatch(r"(\d{1,4})-(\d{1,4})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise Py2048Error(f"{text!r} is not a range of ratings: give one such as 1200-1500")
    low, high = int(match[1]), int(match[2])
    from py2048.review.puzzles import puzzles

    ratings = [puzzle.rating for puzzle in puzzles()]
    if not any(low <= rating <= high for rating in ratings):
        raise Py2048Error(
            f"no puzzle is rated {text}: ratings go from {ratings[0]} to {ratings[-1]}"
        )
    return low, high


def _show_rating(book: PuzzleBook, *, json: bool) -> None:
    answers, rating = book.answers, book.rating
    solved = sum(answer.is_solved for answer in answers)
    if json:
        data = {"rating": rating.rating, "deviation": rating.deviation}
        options.print_json({**data, "solved": solved, "answered": len(answers)})
        return
    text = _("rating {rating} ± {deviation}, solved {solved} of {count}")
    counts = {"solved": written(solved), "count": written(len(answers))}
    print(text.format(rating=written(rating.rating), deviation=written(rating.deviation), **counts))


# --- questions -----------------------------------------------------------------------------------


def _run(drill: Drill, *, as_json: bool) -> None:
    """Run a drill until its last question or the end of the input."""
    from py2048.app.controller.practice import DrillEnd

    goal = gap = ""
    for asked in drill:
        if isinstance(asked, DrillEnd):
            board = f"\n{asked.board}\n" if asked.board else ""
            _tell(f"{board}{asked.text}", asked.about, as_json=as_json)
            return
        if asked.goal != goal:
            goal = asked.goal
            _tell(goal, None, as_json=as_json)
        question = {**asked.about, "board": asked.board.rows}
        _tell(f"{gap}{asked.title}\n{asked.board}", question, as_json=as_json)
        gap = "\n"
        direction = _ask(asked.board, as_json=as_json)
        if direction is None:
            return
        answer = asked.answer(direction)
        graded = {**_data(answer.move, answer.unit), **answer.about}
        _tell(f"{_graded(answer.move, answer.unit)}\n{answer.then}", graded, as_json=as_json)


def _tell(text: str, data: Mapping[str, object] | None, *, as_json: bool) -> None:
    """Print `text`, or print `data` as a line of JSON if the output is JSON."""
    if not as_json:
        print(text, flush=True)
    elif data is not None:
        options.print_json(data, indent=None)


def _ask(board: Board, *, as_json: bool) -> Direction | None:
    """Return the player's legal direction, or None at the end of the input.

    In a terminal, each key is a move. In a pipe, each line is a move.
    """
    read = _key if are_terminal() and not as_json else _word
    while True:
        try:
            direction = read()
        except DirectionError as error:
            fault = str(error)
        else:
            if direction is None or direction in board.legal_directions():
                return direction
            fault = _("{direction}: nothing moves.").format(direction=name_of(direction))
        print(fault, file=sys.stderr if as_json else sys.stdout, flush=True)


def _graded(move: MoveReview, unit: Unit) -> str:
    """Describe the values of the player's move and of the other directions."""
    from py2048.app.controller.review import verdict_of

    top, rows = move.values[move.best], list[list[str]]()
    for direction, value in _ranked(move):
        worth = f"{written(100 * value, 4)} %" if unit == "chance" else amount(unit, value)
        loss = f"{written(100 * (value / top - 1), 1, signed=True)} %" if 0 < value < top else ""
        rows.append([f"  {name_of(direction).lower()}", worth, loss])
    return f"{verdict_of(move)}\n{columns(rows)}"


def _key() -> Direction | None:
    """Read a key and return its direction, or None to quit.

    Raises:
        DirectionError: The key has no direction.
    """
    print(_("your move (arrows, WASD or hjkl; q quits): "), end="", flush=True)
    try:
        key = typer.getchar()
    except EOFError:
        key = QUIT[0]
    print(name_of(KEYS[key]) if key in KEYS else key if key.isprintable() else "")
    if key.lower() in QUIT:
        return None
    if key not in KEYS:
        raise DirectionError(_("that key moves nothing: use the arrows, WASD or hjkl"))
    return KEYS[key]


def _word() -> Direction | None:
    """Read a non-empty line and return its direction, or None to quit.

    Raises:
        DirectionError: The line is not a direction.
    """
    while line := sys.stdin.readline(MAX_LINE):
        if word := line.strip().lower():
            return None if word in QUIT else direction_of_word(word)
    return None


def _ranked(move: MoveReview) -> list[tuple[Direction, float]]:
    return sorted(move.values.items(), key=lambda item: -item[1])


def _data(move: MoveReview, unit: Unit) -> dict[str, object]:
    return {
        "played": str(move.played),
        "best": str(move.best),
        "grade": move.grade.value,
        "share": move.share,
        "values": {str(direction): value for direction, value in _ranked(move)},
        "unit": unit.value,
        "source": move.source,
    }
