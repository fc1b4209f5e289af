"""``review``: what each move of a game lost, what was skill and what was luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli import streams
from py2048.cli.compiling import StatusLine, telling
from py2048.cli.options import JsonOption, check_outputs, no_device, print_json
from py2048.errors import Py2048Error, RecordError, os_errors_as
from py2048.game.importing import load_record
from py2048.game.record import write_atomically
from py2048.players import list_players, make_player
from py2048.storage import open_store

if TYPE_CHECKING:
    from py2048.review import MoveReview, Review


def review(
    files: Annotated[list[Path], typer.Argument(help="Records, or replay texts of 2048verse.")],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="SPEC",
            help="What values the moves: a player such as expectimax:depth=3, or perfect. "
            "By default the best there is for the rules.",
            autocompletion=list_players,
        ),
    ] = "",
    json: JsonOption = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=no_device, help="Write a page with graphs."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Put the worst mistakes into the notebook of practice.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> int:
    """Grade every move of each FILE, tell skill from luck, and show where most was lost.

    Ctrl-C stops and reports the moves reviewed so far.
    """
    check_judge(judge)
    check_outputs({"--html": html}, *files)
    found, status = _reviewed_files(files, judge, quiet=quiet, tell=not json)
    reviews = list(found.values())
    if json:
        data = [{"file": str(file)} | each.to_json() for file, each in found.items()]
        print_json(data[0] if len(files) == 1 else data)
    if html is not None:
        from py2048.review.page import page

        with os_errors_as(RecordError, f"cannot write {html}"):
            write_atomically(html, page(reviews).encode(errors="replace"))
    if keep:
        _keep(reviews, json=json)
    return status


def check_judge(spec: str) -> None:
    """Refuse a judge that is not a player, before each file would be blamed for it.

    Raises:
        PlayerError: if there is no such player.
    """
    if spec:
        make_player(spec)


def _reviewed_files(
    files: list[Path], spec: str, *, quiet: bool, tell: bool
) -> tuple[dict[Path, Review], int]:
    """Return the reviews of files, up to Ctrl-C, and the exit status.

    Raises:
        KeyboardInterrupt: if there is no review yet.
        Py2048Error: if the only file has none.
    """
    found: dict[Path, Review] = {}
    status = 0
    line = StatusLine(quiet=quiet)
    for file in files:
        try:
            with telling(quiet=quiet):
                found[file], is_stopped = _reviewed(file, spec, line)
        except KeyboardInterrupt:
            if not found:
                raise
            status = streams.INTERRUPTED
            break
        except Py2048Error as error:
            if len(files) == 1:
                raise
            streams.complain(blame(file, error))
            status = 2
            continue
        if tell:
            print(_report(file, found[file]), flush=True)
        if is_stopped:
            status = streams.INTERRUPTED
            break
    return found, status


def blame(name: object, error: Py2048Error) -> str:
    """Return an error with the name of what it is about."""
    return str(error) if str(name) in str(error) else f"{name}: {error}"


def _reviewed(file: Path, spec: str, line: StatusLine) -> tuple[Review, bool]:
    """Return the review of the game in a file, and whether Ctrl-C stopped it.

    Raises:
        KeyboardInterrupt: if there was no move yet.
    """
    from py2048.review import Review, judge_for, reviewing

    record = load_record(file)
    record.verify()
    plies, moves, is_stopped = record.plies, list["MoveReview"](), False
    judge = judge_for(record.rules, spec, record.start)
    try:
        for move in reviewing(record, judge):
            moves.append(move)
            line.show(f"{file.name}: {len(moves):,} of {plies:,} moves reviewed")
    except KeyboardInterrupt:
        if not moves:
            raise
        is_stopped = True
    finally:
        line.close()
    return Review.of(record, judge, moves), is_stopped


def _keep(reviews: list[Review], *, json: bool) -> None:
    """Put mistakes into the notebook, and say how many are new."""
    from py2048.session.notebook import Notebook

    with open_store() as store:
        new = sum(Notebook(store).keep(each) for each in reviews)
    if not json:
        print(f"{new} new in your notebook of mistakes: py2048 practice")


def _report(file: Path, found: Review) -> str:
    """Return a review as text."""
    from py2048.review.words import describe_move, describe_review

    lines = [f"{file}: {found.record.rules.name}, score {found.record.score:,}"]
    lines += [f"  {sentence}" for sentence in describe_review(found)]
    lines += [f"  {describe_move(found, move)}" for move in found.critical]
    return "\n".join(lines)
