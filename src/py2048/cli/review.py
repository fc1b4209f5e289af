"""``review``: what each move of a game lost, what was skill and what was luck."""

from __future__ import annotations

from collections.abc import Iterator
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
    reviewer = _Reviewer(judge, quiet=quiet)
    found: dict[Path, Review] = {}
    for file, each in reviewer.reviews(files):
        found[file] = each
        if not json:
            print(_report(file, each), flush=True)
    if json:
        data = [{"file": str(file)} | each.to_json() for file, each in found.items()]
        print_json(data[0] if len(files) == 1 else data)
    if html is not None:
        _write_page(html, list(found.values()))
    if keep:
        _keep(list(found.values()), json=json)
    return reviewer.status


def check_judge(spec: str) -> None:
    """Refuse a judge that is no player, before each file would be blamed for it.

    Raises:
        PlayerError: if there is no such player.
    """
    if spec:
        make_player(spec)


class _Reviewer:
    """Reviews files and says how far it is.

    Attributes:
        status: the exit status so far.
    """

    def __init__(self, spec: str, *, quiet: bool) -> None:
        self._spec, self._quiet = spec, quiet
        self.status = 0

    def reviews(self, files: list[Path]) -> Iterator[tuple[Path, Review]]:
        """Yield the review of each file until Ctrl-C, and complain of those that have none.

        Raises:
            KeyboardInterrupt: if there was none before it.
            Py2048Error: if the only file has none.
        """
        is_any = False
        for file in files:
            try:
                found = self.review(file)
            except KeyboardInterrupt:
                if not is_any:
                    raise
                self.status = streams.INTERRUPTED
                return
            except Py2048Error as error:
                if len(files) == 1:
                    raise
                streams.complain(str(error) if str(file) in str(error) else f"{file}: {error}")
                self.status = 2
                continue
            is_any = True
            yield file, found
            if self.status == streams.INTERRUPTED:
                return

    def review(self, file: Path) -> Review:
        """Return the review of the game in a file, after Ctrl-C that of its first moves.

        Raises:
            KeyboardInterrupt: if there are none of these yet.
        """
        from py2048.review import Review, judge_for, reviewing

        record = load_record(file)
        record.verify()
        plies = record.plies
        moves: list[MoveReview] = []
        line = StatusLine(quiet=self._quiet)
        with telling(quiet=self._quiet):
            judge = judge_for(record.rules, self._spec, record.start)
            try:
                for move in reviewing(record, judge):
                    moves.append(move)
                    line.show(f"{file.name}: {len(moves):,} of {plies:,} moves reviewed")
            except KeyboardInterrupt:
                if not moves:
                    raise
                self.status = streams.INTERRUPTED
            finally:
                line.close()
        return Review.of(record, judge, moves)


def _keep(reviews: list[Review], *, json: bool) -> None:
    """Put mistakes into the notebook, and say how many are new."""
    from py2048.session.notebook import Notebook

    with open_store() as store:
        new = sum(Notebook(store).keep(each) for each in reviews)
    if not json:
        print(f"{new} new in your notebook of mistakes: py2048 practice")


def _write_page(path: Path, reviews: list[Review]) -> None:
    from py2048.review.page import page

    with os_errors_as(RecordError, f"cannot write {path}"):
        write_atomically(path, page(reviews).encode(errors="replace"))


def _report(file: Path, found: Review) -> str:
    """Return a review as text."""
    from py2048.review.words import describe_move, describe_review

    lines = [f"{file}: {found.record.rules.name}, score {found.record.score:,}"]
    lines += [f"  {sentence}" for sentence in describe_review(found)]
    lines += [f"  {describe_move(found, move)}" for move in found.critical]
    return "\n".join(lines)
