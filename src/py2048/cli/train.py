"""``train`` and ``weights``: learning n-tuple networks, and looking after their files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from py2048.cli.compiling import telling
from py2048.cli.options import (
    MAX_WORKERS,
    JsonOption,
    RulesOption,
    SeedOption,
    between,
    chosen_seed,
    no_device,
    print_json,
)
from py2048.cli.training_view import watching
from py2048.errors import WeightsError

if TYPE_CHECKING:
    from py2048.ntuple.campaign import Campaign, Goals
    from py2048.ntuple.network import Network

Settings = dict[str, Any]

DEFAULT_MINUTES = 10.0

SHIPPED = "shipped"
"""What ``--from`` calls the weights that come with py2048; a file of that name is ``./shipped``."""


def train(
    folder: Annotated[Path, typer.Argument(help="Where checkpoint, curve and weights are kept.")],
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", callback=no_device, help="A plan in TOML."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Any setting of a plan."),
    ] = None,
    rules: RulesOption = None,
    seed: SeedOption = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", "-j", min=1, max=MAX_WORKERS, help="Games at the same time."),
    ] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Stop after so many games.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            callback=between(0, 1e9),
            help="Stop after so many minutes; 10 if nothing else is said.",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Weights to begin with; or: shipped."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the curve as curve.png.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")] = False,
) -> int:
    """Train an n-tuple network in FOLDER. Ctrl-C stops and keeps everything; --resume goes on."""
    from py2048.ntuple.campaign import WEIGHTS
    from py2048.ntuple.plots import check_plots, draw_curve

    given = {"rules": rules, "seed": chosen_seed(seed), "threads": threads}
    plan, goals = _settings(config, settings or [], given, {"games": games, "minutes": minutes})
    if plot:
        check_plots()
    with telling(quiet=quiet):
        campaign = _campaign(folder, plan, weights, resume=resume)
    try:
        with telling(quiet=quiet):
            campaign.trainer.prepare()
        with watching(quiet=quiet) as watch:
            campaign.run(goals, watch)
    except KeyboardInterrupt:
        print("stopped; everything learnt is kept: --resume goes on")
    if plot:
        draw_curve(campaign.curve, folder / "curve.png")
    trainer = campaign.trainer
    print(f"{trainer.games:,} games, {trainer.moves:,} moves; weights in {folder / WEIGHTS}")
    return 0


def _settings(
    config: Path | None, texts: list[str], plan: Settings, goals: Settings
) -> tuple[Settings, Goals]:
    """Return the plan's settings and the goals: the file's, changed by ``--set``, by options."""
    from py2048.ntuple.campaign import Goals, goals_from
    from py2048.ntuple.plan import load_toml

    values = load_toml(config) if config else {}
    values |= {**values.pop("run", {})} | dict(map(_setting, texts))
    values |= {name: value for name, value in (plan | goals).items() if value is not None}
    aims = {name: values.pop(name) for name in list(values) if name in Goals.__dataclass_fields__}
    if not aims.keys() & {"games", "moves", "minutes"}:
        aims["minutes"] = DEFAULT_MINUTES
    return values, goals_from(aims)


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``; a value that is not TOML is a text."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.replace("_", "").isalnum():
        raise WeightsError(f"--set {text!r}: write name=value, such as trace=0.5")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


def _campaign(folder: Path, plan: Settings, weights: str | None, *, resume: bool) -> Campaign:
    from py2048.ntuple.campaign import Campaign
    from py2048.ntuple.plan import data_of, plan_from

    if resume:
        if weights:
            raise WeightsError("--resume goes on with the weights as they are: leave out --from")
        return Campaign.resume(folder, plan)
    if not weights:
        return Campaign.begin(folder, plan_from(plan))
    network = _first_network(weights, str(plan.get("rules", "classic")))
    return Campaign.begin(folder, plan_from(data_of(network) | plan), network)


def _first_network(weights: str, rules: str) -> Network:
    from py2048.ntuple.shipped import shipped_network
    from py2048.ntuple.weights import load
    from py2048.rules import Rules

    if weights != SHIPPED:
        return load(weights)
    network = shipped_network(Rules.parse(rules))
    if network is None:
        raise WeightsError(
            f"--from shipped: no weights come with py2048 for the rules {rules}; "
            "name a file, or begin without --from"
        )
    return network


def weights(
    file: Annotated[
        Path, typer.Argument(callback=no_device, help="A file that py2048 train made.")
    ],
    pack: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the network small.")
    ] = None,
    step: Annotated[
        float,
        typer.Option(callback=between(0, 1e9), help="Points in a step of a packed weight."),
    ] = 16.0,
    prune: Annotated[
        float,
        typer.Option(callback=between(0, 1e9), help="Leave out weights nearer to 0 than this."),
    ] = 0.0,
    games: Annotated[int, typer.Option(min=0, help="Measure the strength over so many games.")] = 0,
    seed: SeedOption = None,
    threads: Annotated[
        int,
        typer.Option("--threads", "-j", min=1, max=MAX_WORKERS, help="Games at once."),
    ] = 1,
    json: JsonOption = False,
) -> int:
    """Say what a weights FILE holds and how well it plays; pack it and say what that costs."""
    from py2048.ntuple.weights import header_of, load, save_packed

    data: Settings = header_of(file) | {"bytes": file.stat().st_size}
    network = load(file) if pack or games else None
    first = chosen_seed(seed) or 0
    if network and games:
        data["strength"] = _strength(network, games, first, threads, quiet=json)
    if network and pack:
        small = save_packed(network, pack, step=step, prune=prune)
        data["packed"] = {"file": str(pack), "bytes": pack.stat().st_size}
        if games:
            data["packed"]["strength"] = _strength(small, games, first, threads, quiet=json)
    if json:
        print_json(data)
    else:
        _print_weights(data)
    return 0


def _strength(network: Network, games: int, seed: int, threads: int, *, quiet: bool) -> Settings:
    from py2048.ntuple.trainer import evaluate

    with telling(quiet=quiet):
        tally = evaluate(network, games, seed, threads=threads)
    tiles = {1 << rank: tally.rate(1 << rank) for rank in range(11, 17)}
    return {"games": games, "mean": tally.mean, "error": tally.error, "tiles": tiles}


def _print_weights(data: Settings) -> None:
    print(f"rules    {data['rules']}")
    print(f"tuples   {' '.join('-'.join(map(str, cells)) for cells in data['tuples'])}")
    print(f"stages   {', '.join(map(str, [0, *data['stages']]))}; held: {data['held']}")
    print(f"ranks    {data['ranks']}, tiles up to {1 << data['ranks'] - 1:,}")
    print(f"encoding {data['encoding']}, {data['bytes']:,} bytes")
    for entry in data["history"]:
        print(f"trained  {entry['games']:,} games, {entry['moves']:,} moves, {entry['seconds']} s")
    if "strength" in data:
        _print_strength("plays", data["strength"])
    if "packed" in data:
        print(f"packed   {data['packed']['file']}, {data['packed']['bytes']:,} bytes")
        if "strength" in data["packed"]:
            after = data["packed"]["strength"]
            _print_strength("plays", after)
            before = data["strength"]["mean"]
            print(
                f"loss     {before - after['mean']:,.0f} points, {1 - after['mean'] / before:.2%}"
            )


def _print_strength(word: str, strength: Settings) -> None:
    tiles = ", ".join(f"{tile}: {rate:.1%}" for tile, rate in strength["tiles"].items() if rate)
    print(
        f"{word}    {strength['mean']:,.0f} ± {strength['error']:,.0f} over "
        f"{strength['games']:,} games{'; ' if tiles else ''}{tiles}"
    )
