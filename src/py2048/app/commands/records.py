"""The commands ``replay``, ``verify``, ``import`` and ``scores``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from py2048.app.session import Replay, open_session
from py2048.core.errors import RecordError, os_errors_as
from py2048.core.fairness import check_fair
from py2048.core.game import Record
from py2048.core.game.importing import STDIN, load_record, load_records
from py2048.core.game.record import plain_name
from py2048.core.language import N_, _, number
from py2048.presentation import options
from py2048.presentation.describe import describe
from py2048.presentation.screen import moves
from py2048.presentation.themes import DEFAULT_THEME, get_theme
from py2048.presentation.words import columns

FileArgument = Annotated[
    Path,
    options.word("FILE", "Record or replay; - reads stdin.", options.record_files, allow_dash=True),
]


def replay(
    file: FileArgument,
    start: Annotated[int, options.counting("Start after this many turns.", "--from", least=0)] = 0,
    end: Annotated[
        int | None, options.counting("Stop after this many turns.", "--to", least=0)
    ] = None,
    delay: options.DelayOption = 0.0,
    no_boards: Annotated[
        bool, typer.Option("--no-boards", help="Do not print the boards.")
    ] = False,
    output: Annotated[Path | None, options.output("Write an animated GIF instead.")] = None,
    theme: options.ThemeOption = None,
    json: options.JsonOption = False,
) -> None:
    """Replay a recorded game, checking every turn."""
    if end is not None and end < start:
        raise RecordError(f"--to {end} is before --from {start}: give a later turn")
    game = Replay(load_record(file))
    last = len(game) if end is None else min(end, len(game))
    if start > len(game):
        raise RecordError(f"{file} has {len(game)} turns: --from {start} is beyond its end")
    if output is not None:
        from py2048.presentation.board_image import save_gif

        with os_errors_as(RecordError, f"cannot write {output}"):
            save_gif(output, game.record, get_theme(theme or DEFAULT_THEME.name), start, last)
        print(_("{file}: turns {first} to {last}").format(file=output, first=start, last=last))
        return
    if json:
        positions = []
        for index in range(start, last + 1):
            now = game.seek(index)
            positions.append(
                {"turn": index, "ply": now.ply, "score": now.score, "board": now.board.rows}
            )
        options.print_json(positions)
        return
    game.seek(start)
    text = _("{rules}: turn {n} of {count}, score {score}")
    facts = {"rules": game.record.rules.name, "n": game.index, "count": len(game)}
    print(text.format(**facts, score=number(game.position.score)))
    print(game.position.board)
    while game.index < last and (event := game.forward()):
        time.sleep(delay)
        print(f"{game.index}. {describe(event)}")
        if not no_boards:
            print(game.position.board, flush=True)


def verify(
    files: Annotated[
        list[Path],
        options.word(
            "FILE...", "Records or replays; - reads stdin.", options.record_files, allow_dash=True
        ),
    ],
    secret: Annotated[
        str | None, options.taking("HEX", "Check every tile against a server's revealed secret.")
    ] = None,
    commitment: Annotated[
        str | None, options.taking("HEX", "The commitment that the server published at the start.")
    ] = None,
    json: options.JsonOption = False,
) -> int:
    """Verify records: legal moves, possible spawns and the final score."""
    if commitment is not None and secret is None:
        raise RecordError("--commitment needs the --secret that it was made from: give both")
    results = [result for file in files for result in _verified(file, secret, commitment)]
    if json:
        options.print_json(results)
    else:
        for result in results:
            out = sys.stdout if result["ok"] else sys.stderr
            print(result["message"] if result["ok"] else f"py2048: {result['message']}", file=out)
    return 0 if all(result["ok"] for result in results) else 2


def _verified(file: Path, secret: str | None, commitment: str | None) -> list[dict[str, object]]:
    """Return a result for each game in a file, or a single error if the file is invalid."""
    try:
        records = load_records(file)
        for record in records:
            record.verify()
            if secret is not None:
                check_fair(record, secret, commitment)
    except RecordError as error:
        text = str(error)
        named = text.startswith((str(file), "cannot read", "standard input"))
        message = text if named else f"{file}: {text}"
        return [{"file": str(file), "ok": False, "message": message}]
    results: list[dict[str, object]] = []
    for n, record in enumerate(records, 1):
        name = _("{file} ({n} of {count})") if len(records) > 1 else "{file}"
        name = name.format(file=file, n=n, count=len(records))
        results.append(
            {"file": str(file), "ok": True, "message": f"{name}: {_summary(record, secret)}"}
            | {"rules": str(record.rules), "score": record.score, "plies": record.plies}
            | {"seed": record.seed, "seeded_start": record.has_seeded_start()}
        )
    return results


def _summary(record: Record, secret: str | None = None) -> str:
    drawn = ""
    if record.seed is not None:
        by_hand = _(", tiles match seed {seed} after a start set up by hand")
        text = _(", tiles match seed {seed}") if record.has_seeded_start() else by_hand
        drawn = text.format(seed=record.seed)
    drawn += _(", tiles match the secret") if secret is not None else ""
    text = _("verified, {rules}, score {score}, {moves}")
    facts = {"rules": record.rules.name, "score": number(record.score)}
    return text.format(**facts, moves=moves(record.plies)) + drawn


def import_(
    file: FileArgument,
    target: Annotated[
        str,
        options.word("TARGET", "The record to write (game.2048.json), or a folder (records/)."),
    ],
    force: options.ForceOption = False,
) -> None:
    """Convert replays of other programs to records."""
    records = load_records(file)
    folder = Path(target)
    if target.endswith(("/", os.sep)):
        with os_errors_as(RecordError, f"cannot make the folder {target}"):
            folder.mkdir(parents=True, exist_ok=True)
    if len(records) > 1 and not folder.is_dir():
        raise RecordError(
            f"{file} holds {len(records)} games: name a folder for their records, such as {target}/"
        )
    targets = [folder]
    if folder.is_dir():
        stem = "game" if file == STDIN else file.name.removesuffix(".json").partition(".")[0]
        ends = [""] if len(records) == 1 else [f"-{n}" for n in range(1, len(records) + 1)]
        targets = [folder / f"{stem}{end}.2048.json" for end in ends]
    for each in targets:
        options.refuse_existing(each, force=force)
    for each, record in zip(targets, records, strict=True):
        record.save(each)
        print(f"{each}: {_summary(record)}")


def scores(
    rules: options.RulesOption = None,
    count: options.CountOption = 10,
    json: options.JsonOption = False,
) -> None:
    """Show your best scores and best finished games."""
    chosen = str(options.chosen_rules(rules, None)) if rules else None
    session = open_session(finalize=False)
    try:
        bests, games = session.scores(chosen), session.finished(chosen, limit=count)
    finally:
        session.close()
    if json:
        options.print_json(
            {"best": [vars(best) for best in bests], "games": [vars(g) for g in games]}
        )
        return
    rows = [_("rules; kind; best score; games; mean score; largest tile").split("; ")]
    for each in bests:
        numbers = map(number, (each.best, each.games, each.mean_score, each.max_tile))
        rows.append([rules_name(each.rules), _(each.category), *numbers])
    print(columns(rows) if bests else _("No scores yet."))
    rows = [_("date; rules; kind; score; largest tile; moves; player").split("; ")]
    for game in games:
        numbers = map(number, (game.score, game.max_tile, game.plies))
        names = game.finished[:10], rules_name(game.rules), _(game.category)
        rows.append([*names, *numbers, plain_name(game.player)])
    if games:
        print(f"\n{columns(rows)}")


CATEGORIES = N_("plain"), N_("assisted"), N_("computer")
"""Names of the score categories in the store."""


def rules_name(text: str) -> str:
    """Return the display name of stored rules, even if this py2048 version rejects the rules."""
    return plain_name(text.partition(":")[0])
