"""``solve`` and ``tables``, which compute exact values of small boards and of endgames on 4x4."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.core.errors import SolvingError, os_errors_as, shown
from py2048.core.folders import TABLE_SUFFIX, tables_folder
from py2048.core.rules import get_rules
from py2048.presentation import options, streams
from py2048.presentation.streams import StatusLine

if TYPE_CHECKING:
    from py2048.players.solving import Solution
    from py2048.players.solving.formations import Formation
    from py2048.players.solving.positions import Positions

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MIN_MEMORY, MAX_MEMORY = 64 << 20, 1 << 50
_MEMORY = "Approximate memory to use with --output; on a cluster, per processor."
MemoryOption = Annotated[str, options.taking("SIZE", _MEMORY)]

MAX_STARTS = 24
"""Maximum number of start boards in the report. The output of ``--json`` contains all start boards.
"""


def memory_size(text: str) -> int:
    """Parse an amount of memory such as ``4G``, and return the number of bytes.

    Raises:
        BadParameter: If the text is invalid or the amount is out of range.
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if not MIN_MEMORY <= size <= MAX_MEMORY:
        raise typer.BadParameter(
            f"{shown(text)} is not an amount of memory from 64M to 1024T: give one such as 4G",
            param_hint="'--memory'",
        )
    return size


def solve(
    rules: Annotated[
        str,
        options.word(
            "RULES",
            "A preset such as 3x3, or rules such as classic:size=2x5.",
            options.rules_names,
        ),
    ],
    size: options.SizeOption = None,
    goal: Annotated[
        str,
        options.taking(
            "GOAL",
            "score for the expected score, tile=N for the chance of making tile N.",
            words=lambda: ["score", "tile="],
        ),
    ] = "score",
    output: Annotated[
        Path | None,
        options.output("Write all values to FILE; the same command continues after a stop."),
    ] = None,
    memory: MemoryOption = "4G",
    threads: options.ThreadsOption = None,
    cluster: options.ClusterOption = None,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Compute the exact value of perfect play on a board that is small enough to be solved.

    3x3 takes a minute or two.
    """
    if cluster and threads is not None:
        raise SolvingError("--threads is for this machine: leave it out with --cluster")
    if cluster and output is None:
        raise SolvingError("--cluster needs --output FILE, in a folder that all its machines share")
    wanted, size_ = options.chosen_rules(rules, size), memory_size(memory)
    with StatusLine(quiet=quiet) as line, _reporting_unfinished(output):
        if cluster and output:
            from py2048.lab.arena.ray_cluster import RayCluster
            from py2048.players.solving.sharded import solve_sharded

            with closing(RayCluster(cluster, SolvingError)) as workers:
                solution = solve_sharded(
                    workers, wanted, goal, save=output, memory=size_, progress=line.tell
                )
        else:
            from py2048.players.solving import solve as solve_here

            solution = solve_here(
                wanted, goal, memory=size_, threads=threads, save=output, progress=line.tell
            )
    if json:
        options.print_json(_data(solution), indent=None)
    else:
        print(_report(solution))


@contextmanager
def _reporting_unfinished(file: Path | None) -> Iterator[None]:
    """Report where unfinished work is kept after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        if file is not None and (folder := Path(f"{file}.unfinished")).is_dir():
            streams.complain(f"finished work is in {folder}: the same command continues")
        raise


def _data(solution: Solution) -> dict[str, object]:
    return {
        "rules": str(solution.rules),
        "goal": str(solution.goal),
        "value": solution.value,
        "error": solution.error,
        "positions": solution.positions,
        "seconds": solution.seconds,
        "starts": [
            {"board": start.board.rows, "chance": start.chance, "value": start.value}
            for start in solution.starts
        ],
        "layers": [asdict(layer) for layer in solution.layers],
    }


def _report(solution: Solution) -> str:
    is_score = solution.goal.tile is None
    what = "expected score" if is_score else f"chance of making {solution.goal.tile}"
    boards = sum(layer.boards for layer in solution.layers)
    rows, columns = solution.rules.shape
    value = f"{what} {_number(solution.value)}"
    rounding = f"rounding changes it by at most {solution.error:.1g}"
    images, layers = f"{boards:,} with their symmetric images", f"{len(solution.layers):,} layers"
    return "\n".join(
        [
            f"{solution.rules.name} on {rows}x{columns}: {value} ({rounding})",
            f"{solution.positions:,} positions, {images}, in {layers}",
            f"solved in {solution.seconds:.1f} s",
            *_starts(solution),
        ]
    )


def _number(value: float) -> str:
    return f"{value:,.6f}" if value >= 2 else f"{value:.9f}"


def _starts(solution: Solution) -> list[str]:
    ordered = sorted(solution.starts, key=lambda start: -start.value)
    lines = ["", "start, its probability with its images, and its value"]
    for start in ordered[:MAX_STARTS]:
        board = " / ".join(str(start.board).splitlines())
        lines.append(f"  {board}  {start.chance:.6f}  {_number(start.value)}")
    rest = len(ordered) - MAX_STARTS
    return [*lines, f"  and {rest:,} more: --json prints all"] if rest > 0 else lines


# --- tables --------------------------------------------------------------------------------------

ANNOUNCED_POSITIONS = 10**7
"""Building a table with at least this many positions takes a long time, so its size is announced
first.
"""

BYTES_PER_POSITION = 0.7
"""Maximum file size per position, in bytes. All tables built so far need 0.2 to 0.7 bytes per
position.
"""

app = typer.Typer(
    cls=options.Subcommands,
    help="Tables of endings on 4x4: the chance of making a tile while large tiles stay in place.",
    pretty_exceptions_enable=False,
)


def _formation_names() -> list[str]:
    from py2048.players.solving.formations import list_formations

    return [formation.name for formation in list_formations()]


TableArgument = Annotated[
    str,
    options.word(
        "TABLE", "A table in the data folder, such as L3-256, or a file.", options.table_names
    ),
]


@app.command("list", cls=options.Command)
def list_(json: options.JsonOption = False) -> None:
    """List the known formations, and the tables in the data folder."""
    from py2048.players.solving.formations import list_formations

    names = options.table_names()
    if json:
        known = {each.name: each.data() for each in list_formations()}
        options.print_json({"formations": known, "folder": str(tables_folder()), "tables": names})
        return
    print("#  a large tile on its cell, * where the target counts (without *, everywhere)")
    for formation in list_formations():
        print(f"\n{formation.name}: {_described(formation)}")
        print("\n".join(f"  {line}" for line in formation.picture.splitlines()))
    print(f"\ntables in {tables_folder()}: {', '.join(names) or 'none'}")


def _described(formation: Formation) -> str:
    moving = formation.larges - formation.locks[0].bit_count()
    larges = f"{formation.larges} large tiles"
    if moving == formation.larges:
        larges += ", which move freely"
    elif moving:
        larges += f", {moving} of them free to move"
    return f"{formation.free} cells to play on, {larges}"


@app.command(cls=options.Command)
def build(
    formation: Annotated[
        str,
        options.word(
            "FORMATION", "A formation such as L3, or a .toml file with one.", _formation_names
        ),
    ],
    target: Annotated[int, options.word("TARGET", "The tile to be made, such as 256.")],
    output: Annotated[
        Path | None, options.output("Where to write the table; by default in the data folder.")
    ] = None,
    rules: options.RulesOption = None,
    memory: MemoryOption = "4G",
    threads: options.ThreadsOption = None,
    force: options.ForceOption = False,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Build an endgame table. The same command continues a build that was stopped."""
    from py2048.players.solving.formations import get_formation
    from py2048.players.solving.positions import Positions
    from py2048.players.solving.tables import build_table, checked_memory

    chosen, size = get_formation(formation), memory_size(memory)
    path = output or tables_folder() / f"{chosen.name}-{target}{TABLE_SUFFIX}"
    options.refuse_existing(path, force=force)
    if output is None:
        with os_errors_as(SolvingError, str(path.parent)):
            path.parent.mkdir(parents=True, exist_ok=True)
    with StatusLine(quiet=quiet) as line, _reporting_unfinished(path):
        positions = Positions(chosen, target, get_rules(rules))
        checked_memory(positions, size)
        if positions.count > ANNOUNCED_POSITIONS and not quiet:
            streams.complain(size_text(positions))
        table = build_table(
            *(chosen, target, path),
            rules=positions.rules,
            memory=size,
            threads=threads,
            progress=line.tell,
        )
    size = table.path.stat().st_size
    if json:
        about = {"table": table.name, "rules": str(table.rules), "file": str(table.path)}
        options.print_json({**about, "positions": table.positions, "bytes": size})
        return
    print(f"{table.name} under {table.rules.name}: {table.positions:,} positions, {size:,} bytes")
    print(table.path)


def size_text(positions: Positions) -> str:
    """Return a message about the number of positions and the file size of a table."""
    room = math.ceil(positions.count * BYTES_PER_POSITION / 1e6)
    return f"{positions.name} has {positions.count:,} positions: a file of up to {room:,} MB"


@app.command(cls=options.Command)
def query(
    table: TableArgument,
    board: options.BoardArgument,
    rules: options.RulesOption = None,
    json: options.JsonOption = False,
) -> None:
    """Print the chance of making the target after each move on BOARD, best first."""
    from py2048.players.solving.tables import load_table

    position = options.board_of(board)
    with StatusLine(quiet=json):
        known = load_table(table, rules)
        chance, moves = known.chance_of(position), known.move_chances(position)
    ranked = sorted(moves.items(), key=lambda move: -move[1])
    if json:
        values = {str(direction): value for direction, value in ranked}
        options.print_json(
            {"table": known.name, "chance": chance, "moves": values, "error": known.error}
        )
        return
    if not known.holds(position):
        print(f"{known.target} has been made")
    for direction, value in ranked:
        print(f"{direction!s:<5}  {value:.6f}")
    if not ranked:
        print("no move is left")


@app.command(cls=options.Command)
def check(table: TableArgument, json: options.JsonOption = False) -> None:
    """Read every byte of a table, and report whether the file is intact."""
    from py2048.players.solving.tables import load_table

    with StatusLine(quiet=json):
        known = load_table(table)
        known.check()
    if json:
        options.print_json({"table": known.name, "file": str(known.path)})
    else:
        print(f"{known.path} is intact")
