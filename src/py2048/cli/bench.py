"""``bench``: this machine measured, each figure beside a baseline in the same run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.click import UsageError
from py2048.cli.compiling import telling
from py2048.cli.options import JsonOption, ThreadsOption, between, print_json
from py2048.errors import did_you_mean

if TYPE_CHECKING:
    from py2048.bench.harness import Effort, Table

USUAL = ("engine", "environments", "startup", "memory")
"""What ``bench`` measures if it is not told what."""


def _subjects() -> list[str]:
    from py2048.bench import SUBJECTS

    return [*SUBJECTS, *_scripts()]


def bench(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to measure; --list tells what there is.", autocompletion=_subjects
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each contestant.")] = 15,
    seconds: Annotated[
        float,
        typer.Option(callback=between(0.001, 3600), help="The length of a turn."),
    ] = 0.1,
    threads: ThreadsOption = None,
    known: Annotated[bool, typer.Option("--list", help="List what can be measured.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the result, PNG or SVG.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Measure WHAT on this machine, each figure beside a baseline in the same run."""
    from py2048.bench import SUBJECTS, run
    from py2048.bench.harness import Effort
    from py2048.bench.report import check_plots, data_of, draw
    from py2048.compiled.threads import available_threads

    scripts = _scripts()
    if known:
        return _list_subjects(scripts)
    chosen = [_checked_subject(name, scripts) for name in what or _usual()]
    if plot:
        check_plots()
    tells = sys.stderr.isatty()
    effort = Effort(rounds, seconds, threads or available_threads(), tells)
    machine = _machine(effort, json=json)
    tables: list[Table] = []
    for name in chosen:
        if name in SUBJECTS:
            with telling(quiet=json):
                found = run(name, effort)
            tables += _shown(found, json=json)
        elif status := _run_script(scripts[name], json=json):
            return status
    if json:
        print_json({"machine": machine, "tables": [data_of(table) for table in tables]})
    if plot:
        draw(tables, plot)
    return 0


def _usual() -> list[str]:
    """Return what is measured if nothing is asked for: what can be measured here."""
    if importlib.util.find_spec("gymnasium") is not None:
        return list(USUAL)
    print("environments are left out: they need pip install 'py2048[rl]'", file=sys.stderr)
    return [name for name in USUAL if name != "environments"]


def _scripts() -> dict[str, Path]:
    """Return the benchmarks of the repository that this package runs from; none elsewhere."""
    folder = Path(__file__).parents[3] / "benchmarks"
    return {path.stem.removeprefix("bench_"): path for path in sorted(folder.glob("bench_*.py"))}


def _list_subjects(scripts: dict[str, Path]) -> int:
    from py2048.bench import SUBJECTS

    for name, subject in SUBJECTS.items():
        print(f"{name:<14}{subject.summary}{'' if name in USUAL else '; only if asked for'}")
    for name, path in scripts.items():
        print(f"{name:<14}of the repository: benchmarks/{path.name}; only if asked for")
    return 0


def _checked_subject(name: str, scripts: dict[str, Path]) -> str:
    names = _subjects()
    if name not in names:
        where = "" if scripts else "; the benchmarks of the repository run from a checkout only"
        raise UsageError(f"there is no benchmark {name!r}{did_you_mean(name, names)}{where}")
    return name


def _machine(effort: Effort, *, json: bool) -> dict[str, str]:
    from py2048.bench.machine import machine
    from py2048.bench.report import header

    found = machine()
    found["turns"] = f"{effort.rounds} of {effort.seconds} s each; median and best of them"
    if not json:
        print(header(found), flush=True)
    return found


def _shown(tables: list[Table], *, json: bool) -> list[Table]:
    from py2048.bench.report import text_of

    if not json:
        for table in tables:
            print(f"\n{text_of(table)}", flush=True)
    return tables


def _run_script(path: Path, *, json: bool) -> int:
    """Run a benchmark of the repository; with ``--json`` what it prints goes to stderr."""
    where = sys.stderr if json else None
    print(f"\n== {path.stem.removeprefix('bench_')}", file=where, flush=True)
    return subprocess.run([sys.executable, path], check=False, stdout=where).returncode
