"""The commands ``review`` and ``report``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from py2048.app.session.levels import ME, find_level
from py2048.app.storage import open_store
from py2048.core.errors import PlayerError, Py2048Error, RecordError, StorageError, os_errors_as
from py2048.core.folders import data_folder
from py2048.core.game import Record
from py2048.core.game.importing import load_record, load_records
from py2048.core.game.record import write_atomically
from py2048.core.language import _, number
from py2048.players import make_player
from py2048.presentation import options, streams
from py2048.presentation.streams import StatusLine
from py2048.review.levels import PERFECT, Level, parse_level

if TYPE_CHECKING:
    from py2048.app.session import Session
    from py2048.core.rules import Rules
    from py2048.review import Judge, MoveReview, Review
    from py2048.review.report import CareerTotals, GameSummary, SummaryFile

OWNER = "local"
"""Owner ID of the games that are played on this computer."""

_JUDGE = (
    "Player that evaluates the moves, such as expectimax:depth=3 or perfect; by default the best "
    "one for the rules."
)
JudgeOption = Annotated[str, options.taking("SPEC", _JUDGE, words=options.player_words)]

Source = tuple[str, Callable[[], list[Record]]]
"""A group of games: its name, and a function that loads the games."""


def review(
    files: Annotated[list[Path], options.word("FILE", "Records or replays.", options.record_files)],
    judge: JudgeOption = "",
    level: options.LevelOption = "",
    json: options.JsonOption = False,
    output: options.PageOption = None,
    notebook: Annotated[
        bool, typer.Option("--notebook", help="Add the worst mistakes to your practice notebook.")
    ] = False,
    quiet: options.QuietOption = False,
) -> int:
    """Grade every move, show the worst mistakes, and say how much they cost a player like you.

    With a level, each move is judged by simulated games of players at this level. Perfect play also
    separates skill from luck. The default level is your own (me) or, with --judge, perfect. Ctrl-C
    stops and reports the moves reviewed so far.
    """
    from py2048.app.session.notebook import Notebook
    from py2048.presentation.page import page

    reviews, status = _reviewed_files(files, _chosen(judge, level), quiet=quiet, prints=not json)
    if json:
        data = [{"file": str(file)} | _review_data(each) for file, each in reviews.items()]
        options.print_json(data[0] if len(files) == 1 else data)
    if output is not None:
        _write(output, page([*reviews.values()]))
    if notebook:
        with open_store() as store:
            new = sum(map(Notebook(store).keep, reviews.values()))
        if not json:
            text = _("{n} new in your practice notebook: py2048 practice")
            print(text.format(n=number(new)))
    return status


def _reviewed_files(
    files: list[Path], chosen: tuple[str, str], *, quiet: bool, prints: bool
) -> tuple[dict[Path, Review], int]:
    """Return the reviews of the files, and the exit status. Ctrl-C skips the remaining files.

    Raises:
        KeyboardInterrupt: Nothing was reviewed yet.
        Py2048Error: The only file is invalid.
    """
    reviews: dict[Path, Review] = {}
    status = 0
    for file in files:
        try:
            reviews[file], is_stopped = _reviewed(file, chosen, quiet=quiet)
        except KeyboardInterrupt:
            if not reviews:
                raise
            return reviews, streams.INTERRUPTED
        except Py2048Error as error:
            if len(files) == 1:
                raise
            streams.complain(blame(file, error))
            status = 2
            continue
        if prints:
            print(_report(file, reviews[file]), flush=True)
        if is_stopped:
            return reviews, streams.INTERRUPTED
    return reviews, status


def _write(file: Path, page: str) -> None:
    """Write an HTML page, and replace characters that UTF-8 cannot encode."""
    with os_errors_as(RecordError, f"cannot write {file}"):
        write_atomically(file, page.encode(errors="replace"))


def _chosen(judge: str, level: str) -> tuple[str, str]:
    """Validate the judge and the level first, so that an error is reported only once.

    Raises:
        PlayerError: If `judge` or `level` is invalid, or if both are given.
    """
    if judge and level:
        raise PlayerError(f"--judge {judge} and --level {level} exclude each other: give one")
    if judge:
        make_player(judge)
    elif level != ME:
        parse_level(level or PERFECT)
    return judge, level or (PERFECT if judge else ME)


def blame(name: object, error: Py2048Error) -> str:
    """Return an error message that begins with `name`, unless the message already contains it."""
    return str(error) if str(name) in str(error) else f"{name}: {error}"


def _reviewed(file: Path, chosen: tuple[str, str], *, quiet: bool) -> tuple[Review, bool]:
    """Return the review of a file, and whether Ctrl-C stopped it.

    Args:
        file: Record or replay.
        chosen: Judge and level, as given on the command line.
        quiet: Whether to print no progress.

    Raises:
        KeyboardInterrupt: Nothing was reviewed yet.
    """
    from py2048.review import Review

    record, moves, is_stopped = load_record(file), dict[int, "MoveReview"](), False
    record.verify()
    with StatusLine(quiet=quiet) as line:
        judge = _judge_of(record, *chosen)
        try:
            for move in judge.reviews(record):
                moves[move.ply] = move
                text = _("{file}: {n} of {count} moves reviewed")
                count = {"n": number(len(moves)), "count": number(record.plies)}
                line.news = text.format(file=file.name, **count)
        except KeyboardInterrupt:
            if not moves:
                raise
            is_stopped = True
    return Review.of(record, judge, moves.values()), is_stopped


def _judge_of(record: Record, spec: str, level: str) -> Judge:
    """Return the judge for a record. If its rules do not support levels, use perfect play."""
    from py2048.review import judge_for
    from py2048.review.coaching import LevelJudge, why_not

    chosen = level_of(record.rules, level)
    why = why_not(record.rules) if chosen else ""
    if chosen and not why:
        return LevelJudge(record.rules, chosen)
    judge = judge_for(record.rules, spec, record.start)
    if why and not judge.is_exact:
        streams.complain(_("judged by perfect play instead: {why}").format(why=why))
    return judge


def level_of(rules: Rules, text: str) -> Level | None:
    """Return the level named by `text`. The level `me` is fitted to the games in the store.

    Raises:
        PlayerError: The text names no level.
    """
    if text == ME:
        with suppress(StorageError), open_store() as store:
            return find_level(store, OWNER, rules)
    return find_level(None, OWNER, rules, text)


def _review_data(review: Review) -> dict[str, Any]:
    """Convert a review to JSON values, which include a text for each reason."""
    data = review.to_json()
    for move, values in zip(review.moves, data["moves"], strict=True):
        add_text(move, values)
    return data


def add_text(move: MoveReview, data: dict[str, Any]) -> dict[str, Any]:
    """Add a sentence with the reason for a mistake to the move's JSON values."""
    from py2048.presentation.words import reason_text

    if move.reason:
        data["reason"]["text"] = reason_text(move)
    return data


def _report(file: Path, reviewed: Review) -> str:
    """Return a review as text."""
    from py2048.presentation.words import describe_move, describe_review

    record, text = reviewed.record, _("{rules}, score {score}")
    lines = [f"{file}: {text.format(rules=record.rules.name, score=number(record.score))}"]
    lines += [f"  {sentence}" for sentence in describe_review(reviewed)]
    lines += [f"  {describe_move(reviewed, move)}" for move in reviewed.moments]
    return "\n".join(lines)


# --- many games ----------------------------------------------------------------------------------


def report(
    paths: Annotated[
        list[Path] | None,
        options.word(
            "[FOLDER|FILE]…",
            "Records, replays, or folders with them; your own finished games by default.",
            options.record_files,
            allow_dash=True,
        ),
    ] = None,
    judge: JudgeOption = "",
    level: options.LevelOption = "",
    by: Annotated[str | None, options.taking("NAME", "Only games of this player.")] = None,
    json: options.JsonOption = False,
    output: options.PageOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Report accuracy, speed, scores and mistakes over many games, by week and rules.

    All your finished games are counted, and the last 50 under each set of rules are reviewed. Moves
    are judged as in a review: for your own level (me), unless you choose a level or a judge.
    Perfect play also reports luck. Reviews are stored, so each game is reviewed only once per
    level. Ctrl-C ends the report after the games reviewed so far. Invalid files are skipped with a
    warning, and the exit status is 2.
    """
    from py2048 import __version__
    from py2048.app.session import open_session
    from py2048.presentation.page import describe_report, report_page
    from py2048.review.report import GamesReport, GameSummary, SummaryFile

    chosen = _chosen(judge, level)
    stored = SummaryFile(data_folder() / "reviews.jsonl", __version__)
    summaries, refused, status = list[GameSummary](), list[str](), 0
    opened = nullcontext() if paths else closing(open_session(finalize=False))
    with opened as session, StatusLine(quiet=quiet) as line:
        careers = session.totals() if session else []
        try:
            own = _finished_games(session, careers) if session else ()
            for name, load in chain(own, _files_in(paths or ())):
                try:
                    for record in load():
                        if by in (None, record.player):
                            summaries.append(_summary(record, chosen, stored))
                            n = number(len(summaries))
                            line.news = _("{n} games; {name}").format(n=n, name=name)
                except Py2048Error as error:
                    refused.append(blame(name, error))
        except KeyboardInterrupt:
            status = streams.INTERRUPTED
    games = GamesReport.of(summaries, refused, careers if by is None else ())
    if json:
        options.print_json(games.to_json())
    else:
        print("\n".join(describe_report(games)))
    for reason in refused:
        streams.complain(_("skipped: {reason}").format(reason=reason))
    if stored.trouble:
        text = _("cannot save the reviews, so the next report repeats them: {trouble}")
        streams.complain(text.format(trouble=stored.trouble))
    if output is not None:
        _write(output, report_page(games))
    return status or (2 if refused else 0)


def _summary(record: Record, chosen: tuple[str, str], stored: SummaryFile) -> GameSummary:
    """Return the stored summary of a game, or review the game if there is none."""
    from py2048.review import Review
    from py2048.review.report import GameSummary

    asked = chosen[0] or str(level_of(record.rules, chosen[1]) or PERFECT)
    summary = stored.get(record, asked)
    if summary is None:
        record.verify()
        judge = _judge_of(record, *chosen)
        summary = GameSummary.of(Review.of(record, judge, judge.reviews(record)), asked)
        stored.add(summary)
    return summary


def _files_in(paths: Iterable[Path]) -> Iterator[Source]:
    """Yield the given files, and the files in the given folders."""
    for path in paths:
        inside = (each for ending in options.RECORD_ENDINGS for each in path.rglob(f"*{ending}"))
        for file in sorted(filter(Path.is_file, inside)) if path.is_dir() else [path]:
            yield str(file), lambda file=file: load_records(file)  # type: ignore[misc]


def _finished_games(session: Session, careers: Iterable[CareerTotals]) -> Iterator[Source]:
    """Yield the player's most recent games under each set of rules, latest first."""
    for career in careers:
        for game in reversed(session.career(career.rules).recent):
            name = _("the game of {date}").format(date=game.finished)
            yield name, lambda id_=game.id: [session.finished_record(id_)]  # type: ignore[misc]
