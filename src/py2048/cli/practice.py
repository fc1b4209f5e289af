"""``practice`` and ``puzzle``: your own mistakes, endings, and positions with one best move."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.compiling import telling
from py2048.cli.options import JsonOption, SeedOption, chosen_seed, print_json
from py2048.errors import Py2048Error
from py2048.folders import built_tables
from py2048.rng import random_seed
from py2048.storage import open_store

if TYPE_CHECKING:
    from py2048.cli.questions import Questions
    from py2048.session.notebook import Notebook, PuzzleBook
    from py2048.ui.shared.practice import Drill


def _themes() -> list[str]:
    from py2048.review.themes import Theme

    return [theme.value for theme in Theme]


# --- mistakes and endings ------------------------------------------------------------------------


def practice(
    theme: Annotated[
        str | None,
        typer.Option(
            metavar="THEME",
            help="Only mistakes of this theme: corner, row, ending, merge, setup or other.",
            autocompletion=_themes,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Play an ending of this table, such as L3-256, instead.",
            autocompletion=lambda: [path.stem for path in built_tables()],
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", min=1, metavar="N", help="How many mistakes at most; by default 20."
        ),
    ] = None,
    seed: SeedOption = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Show what is known so far, and practise nothing.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Practise the mistakes of your games that are due, or an ending against its table.

    Moves are keys in a terminal, and words such as left, one a line, in a pipe. Every answer is
    kept at once.
    """
    from py2048.cli.questions import Questions
    from py2048.ui.shared.practice import MAX_DUE, EndingDrill, MistakeDrill

    is_narrowed = theme is not None or count is not None
    if table is not None and (is_narrowed or statistics):
        raise Py2048Error(
            "--table excludes --theme, --count and --statistics: leave it or them out"
        )
    if statistics and is_narrowed:
        raise Py2048Error("--statistics excludes --theme and --count: leave it or them out")
    if seed is not None and table is None:
        raise Py2048Error(f"--seed {seed} draws an ending of a --table: give both")
    questions = Questions(as_json=json)
    if table is not None:
        wanted = chosen_seed(seed)
        with telling():
            ending = EndingDrill.deal(table, random_seed() if wanted is None else wanted)
        _run(questions, ending)
        return 0
    from py2048.review.themes import Theme
    from py2048.session.notebook import Notebook

    kind = None if theme is None else Theme.parse(theme)
    with open_store() as store:
        notebook = Notebook(store)
        if statistics:
            _show_progress(notebook, json=json)
        else:
            _run(questions, MistakeDrill(notebook, kind, count or MAX_DUE))
    return 0


def _run(questions: Questions, drill: Drill) -> None:
    """Ask until nothing more is asked, or no answer comes."""
    if drill.opening:
        questions.say(drill.opening)
    while (question := drill.question()) is not None:
        direction = questions.ask(question.title, question.board, question.about)
        if direction is None:
            return
        answer = drill.answer(direction)
        questions.tell(answer.move, answer.unit, answer.then, answer.about)
    end = drill.closing
    if end.text:
        shown = f"\n{end.board}\n" if end.board else ""
        questions.say(f"{shown}{end.text}", end.about)


def _show_progress(notebook: Notebook, *, json: bool) -> None:
    found = notebook.progress()
    if json:
        print_json([vars(each) for each in found])
        return
    if not found:
        from py2048.ui.shared.practice import HOW_TO_KEEP

        print(f"no mistakes are kept: {HOW_TO_KEEP}")
        return
    print("theme         mistakes   due  known  tries  right  next")
    for each in found:
        right = f"{each.successes / each.tries:.0%}" if each.tries else "-"
        print(
            f"{each.theme:<12} {each.mistakes:>9} {each.due:>5} {each.known:>6} {each.tries:>6} "
            f"{right:>6}  {each.next_due[:10]}"
        )


# --- puzzles -------------------------------------------------------------------------------------


def puzzle(
    daily: Annotated[bool, typer.Option("--daily", help="The puzzle of today (UTC).")] = False,
    number: Annotated[
        int | None, typer.Option("--id", metavar="N", help="The puzzle with this number.")
    ] = None,
    rating: Annotated[
        str | None,
        typer.Option(metavar="A-B", help="Only puzzles with ratings from A to B, as 1200-1500."),
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Show your rating, and no puzzle.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Solve puzzles: find the one clearly best move. Without options, those near your rating.

    The first answer to a puzzle changes your rating.
    """
    from py2048.cli.questions import Questions
    from py2048.review.puzzles import daily_puzzle, get_puzzle
    from py2048.session.notebook import PuzzleBook
    from py2048.ui.shared.practice import PuzzleDrill, today

    if sum((daily, number is not None, rating is not None, statistics)) > 1:
        raise Py2048Error(
            "--daily, --id, --rating and --statistics exclude each other: give one of them"
        )
    limits = _range(rating) if rating else ()
    questions = Questions(as_json=json)
    with open_store() as store:
        book = PuzzleBook(store)
        if statistics:
            _show_rating(book, json=json)
        else:
            only = daily_puzzle(today()) if daily else None
            only = only if number is None else get_puzzle(number)
            _run(questions, PuzzleDrill(book, *limits, puzzle=only))
    return 0


def _range(text: str) -> tuple[int, int]:
    """Return the least and the greatest rating that a text names.

    Raises:
        Py2048Error: if it names none, or no puzzle has one of them.
    """
    found = re.fullmatch(r"(\d{1,4})-(\d{1,4})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise Py2048Error(f"{text!r} is not a range of ratings: give one such as 1200-1500")
    low, high = int(found[1]), int(found[2])
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
        print_json({**data, "solved": solved, "answered": len(answers)})
        return
    print(f"rating {rating.rating:.0f} ± {rating.deviation:.0f}, solved {solved} of {len(answers)}")
