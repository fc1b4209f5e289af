"""The commands ``review`` and ``report``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
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
from py2048.core.language import language_of_environment, use_language
from py2048.players import make_player
from py2048.presentation import options, streams
from py2048.presentation.streams import StatusLine
from py2048.review.levels import PERFECT, Level, parse_level

if TYPE_CHECKING:
    from py2048.core.rules import Rules
    from py2048.review import Judge, MoveReview, Review
    from py2048.review.report import GameSummary, SummaryFile

MAX_GAMES = 100_000

OWNER = "local"
"""Owner of the games played on this computer."""

_JUDGE = (
    "Player that evaluates the moves, such as expectimax:depth=3 or perfect; by default the best "
    "one for the rules."
)
JudgeOption = Annotated[str, options.taking("SPEC", _JUDGE, words=options.player_words)]

Source = tuple[str, Callable[[], list[Record]]]
"""A name for a group of games, and a function that loads them."""


def review(
    files: Annotated[
        list[Path], options.word("FILE...", "Records or replays.", options.record_files)
    ],
    judge: JudgeOption = "",
    level: options.LevelOption = "",
    json: options.JsonOption = False,
    html: options.HtmlOption = None,
    notebook: Annotated[
        bool, typer.Option("--notebook", help="Add the worst mistakes to your practice notebook.")
    ] = False,
    quiet: options.QuietOption = False,
) -> int:
    """Grade every move, show the worst mistakes, and say what they cost a player like you.

    A level judges moves by games played on from them as players of this level would. Perfect play
    also separates skill from luck. The default level is your own, me; with --judge, it is perfect.
    Ctrl-C stops and reports the moves reviewed so far.
    """
    from py2048.app.session.notebook import Notebook
    from py2048.presentation.page import page

    reviews, status = _reviewed_files(files, _chosen(judge, level), quiet=quiet, prints=not json)
    if json:
        data = [{"file": str(file)} | _review_data(each) for file, each in reviews.items()]
        options.print_json(data[0] if len(files) == 1 else data)
    if html is not None:
        with use_language(language_of_environment()):
            _write(html, page([*reviews.values()], colours()))
    if notebook:
        with open_store() as store:
            new = sum(map(Notebook(store).keep, reviews.values()))
        if not json:
            print(f"{new} new in your notebook of mistakes: py2048 practice")
    return status


def _reviewed_files(
    files: list[Path], chosen: tuple[str, str], *, quiet: bool, prints: bool
) -> tuple[dict[Path, Review], int]:
    """Return the reviews of files and the exit status; Ctrl-C skips the remaining files.

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
            status = streams.INTERRUPTED
            break
        except Py2048Error as error:
            if len(files) == 1:
                raise
            streams.complain(blame(file, error))
            status = 2
            continue
        if prints:
            print(_report(file, reviews[file]), flush=True)
        if is_stopped:
            status = streams.INTERRUPTED
            break
    return reviews, status


def _write(file: Path, page: str) -> None:
    """Write a page, replacing unencodable characters in names."""
    with os_errors_as(RecordError, f"cannot write {file}"):
        write_atomically(file, page.encode(errors="replace"))


def _chosen(judge: str, level: str) -> tuple[str, str]:
    """Return the judge and the level; errors are raised once instead of for each file.

    Raises:
        PlayerError: If the player or level is unknown, or both are given.
    """
    if judge and level:
        raise PlayerError(f"--judge {judge} and --level {level} exclude each other: give one")
    if judge:
        make_player(judge)
    elif level != ME:
        parse_level(level or PERFECT)
    return judge, level or (PERFECT if judge else ME)


def blame(name: object, error: Py2048Error) -> str:
    """Return an error message that contains `name`, the source of the error."""
    return str(error) if str(name) in str(error) else f"{name}: {error}"


def _reviewed(file: Path, chosen: tuple[str, str], *, quiet: bool) -> tuple[Review, bool]:
    """Return the review of a file, and whether Ctrl-C stopped it.

    Args:
        file: Record or replay.
        chosen: Judge and level, as given on the command line.
        quiet: Print no progress.

    Raises:
        KeyboardInterrupt: Nothing was reviewed yet.
    """
    from py2048.review import Review

    record, moves, is_stopped = load_record(file), dict[int, "MoveReview"](), False
    record.verify()
    with StatusLine(quiet=quiet) as line:
        judge = _judge_of(record, *chosen)
        try:
            for batch in _batches(record, judge):
                moves |= {move.ply: move for move in batch}
                line.news = f"{file.name}: {len(moves):,} of {record.plies:,} moves reviewed"
        except KeyboardInterrupt:
            if not moves:
                raise
            is_stopped = True
    return Review.of(record, judge, moves.values()), is_stopped


def _batches(record: Record, judge: Judge) -> Iterator[Iterable[MoveReview]]:
    """Yield reviewed moves; a later review of a move replaces the earlier one."""
    from py2048.review import reviewing
    from py2048.review.coaching import LevelJudge, positions_of

    if isinstance(judge, LevelJudge):
        return judge.review(positions_of(record))
    return ((move,) for move in reviewing(record, judge))


def _judge_of(record: Record, spec: str, level: str) -> Judge:
    """Return the judge for a record. If there is none for the level, it is that of perfect play."""
    from py2048.review import judge_for
    from py2048.review.coaching import LevelJudge, why_not

    chosen = level_of(record.rules, level)
    why = why_not(record.rules) if chosen else ""
    if chosen and not why:
        return LevelJudge(record.rules, chosen)
    judge = judge_for(record.rules, spec, record.start)
    if why and not judge.is_exact:
        streams.complain(f"perfect play judges instead: {why}")
    return judge


def level_of(rules: Rules, text: str) -> Level | None:
    """Return the level that a text names; `me` is fitted to the games in the store.

    Raises:
        PlayerError: The text names no level.
    """
    if text == ME:
        with suppress(StorageError), open_store() as store:
            return find_level(store, OWNER, rules)
    return find_level(None, OWNER, rules, text)


def _review_data(review: Review) -> dict[str, Any]:
    """Return a review as JSON values, with its reasons as text."""
    data = review.to_json()
    for move, values in zip(review.moves, data["moves"], strict=True):
        add_text(move, values)
    return data


def add_text(move: MoveReview, data: dict[str, Any]) -> dict[str, Any]:
    """Add the text of a move's reason to its JSON values."""
    from py2048.presentation.words import reason_text

    if move.reason:
        data["reason"]["text"] = reason_text(move.reason, move.played, move.best)
    return data


def _report(file: Path, reviewed: Review) -> str:
    """Return a review as text."""
    from py2048.presentation.words import describe_move, describe_review

    lines = [f"{file}: {reviewed.record.rules.name}, score {reviewed.record.score:,}"]
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
    html: options.HtmlOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Report accuracy, speed, scores and mistakes over many games, by week and rules.

    Moves are judged as in a review: for your own level, me, unless you choose a level or a judge.
    Perfect play also reports luck. Reviews are stored, so each game is reviewed only once per
    level. Ctrl-C ends the report after the games so far. Invalid files are skipped with a warning,
    and the exit status is 2.
    """
    from py2048 import __version__
    from py2048.presentation.page import describe_report, report_page
    from py2048.review.report import GamesReport, GameSummary, SummaryFile

    chosen = _chosen(judge, level)
    stored = SummaryFile(data_folder() / "reviews.jsonl", __version__)
    summaries, refused, status = list[GameSummary](), list[str](), 0
    with StatusLine(quiet=quiet) as line:
        try:
            for name, load in _sources(paths):
                try:
                    for record in load():
                        if by in (None, record.player):
                            summaries.append(_summary(record, chosen, stored))
                            line.news = f"{len(summaries):,} games; {name}"
                except Py2048Error as error:
                    refused.append(blame(name, error))
        except KeyboardInterrupt:
            status = streams.INTERRUPTED
    games = GamesReport.of(summaries, refused)
    if json:
        options.print_json(games.to_json())
    else:
        print("\n".join(describe_report(games)))
    for reason in refused:
        streams.complain(f"skipped: {reason}")
    if stored.trouble:
        streams.complain(f"the next report reviews these games again: {stored.trouble}")
    if html is not None:
        with use_language(language_of_environment()):
            _write(html, report_page(games, colours()))
    return status or (2 if refused else 0)


def _summary(record: Record, chosen: tuple[str, str], stored: SummaryFile) -> GameSummary:
    """Return the summary of a game, reviewing it if it is new."""
    from py2048.review import Review
    from py2048.review.report import GameSummary

    asked = chosen[0] or str(level_of(record.rules, chosen[1]) or PERFECT)
    summary = stored.get(record, asked)
    if summary is None:
        record.verify()
        judge = _judge_of(record, *chosen)
        moves = {move.ply: move for batch in _batches(record, judge) for move in batch}
        summary = GameSummary.of(Review.of(record, judge, moves.values()), asked)
        stored.add(summary)
    return summary


def _sources(paths: list[Path] | None) -> Iterator[Source]:
    """Yield the games to report on."""
    if not paths:
        yield from _finished_games()
        return
    for path in paths:
        for file in _files(path):
            yield str(file), lambda file=file: load_records(file)  # type: ignore[misc]


def _files(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return [path]
    files = (
        file
        for file in path.rglob("*")
        if file.name.endswith(options.RECORD_ENDINGS) and file.is_file()
    )
    return sorted(files)


def _finished_games() -> Iterator[Source]:
    from py2048.app.session import HUMAN_CATEGORIES, open_session

    with closing(open_session(finalize=False)) as session:
        for game in session.finished(limit=MAX_GAMES):
            if game.category in HUMAN_CATEGORIES:
                name = f"the game of {game.finished}"
                yield name, lambda id_=game.id: [session.finished_record(id_)]  # type: ignore[misc]


def colours() -> str:
    """Return a style sheet with the light and the dark theme."""
    from py2048.presentation.themes import DARK, LIGHT, TOKENS, Theme

    def sheet(theme: Theme) -> str:
        tokens = "".join(f"--{name.replace('_', '-')}:{getattr(theme, name)};" for name in TOKENS)
        tiles = "".join(
            f".board .rank-{rank}{{background:{style.background};color:{style.text}}}"
            for rank, style in enumerate(theme.tiles + theme.beyond, 1)
        )
        return f":root{{{tokens}}}{tiles}"

    return f"{sheet(LIGHT)}@media(prefers-color-scheme:dark){{{sheet(DARK)}}}"
