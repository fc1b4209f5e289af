"""`Plan`: everything that decides a training, as one value; read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from py2048.errors import WeightsError, did_you_mean
from py2048.ntuple.layout import (
    PACKED_RANKS,
    Layout,
    cells_text,
    default_tuples,
    parse_tuples,
)
from py2048.ntuple.network import Network, check_rules
from py2048.rng import checked_seed
from py2048.rules import Rules

Value = TypeVar("Value")

CHANGEABLE = ("rate", "trace", "path", "restart", "ranks", "threads")
"""What of a plan may change when a training goes on: not what its weights mean."""


@dataclass(frozen=True)
class Plan:
    """What to learn and how.

    Attributes:
        rules_text: the rules, as `Rules.parse` reads them.
        tuples: the network's tuples, as `layout.parse_tuples` reads them; empty for a choice that
            suits the board.
        stages: where later stages begin, as in `Layout`.
        ranks: how many ranks a weight tells apart, the empty cell included. On boards of up to four
            a side at most 16, and it may change on the way; larger tiles are lowered, so fewer
            ranks teach the end of long games with what was learnt before
            (`py2048.ntuple.lowering`).
        rate: the learning rate: how much of its error an afterstate corrects. With `coherent`
            1 is right; without it 0.1 or so.
        trace: λ of TD(λ), from 0 (the next value counts) to 1 (only what really came counts).
        path: how many afterstates are learnt from together, the last first: 1 is TD(0) after
            every move, a large number is TD(λ) after every game.
        coherent: whether each weight adapts its rate (temporal coherence).
        optimism: the value of every board before training, in points.
        carousel: whether games start in each stage in turn.
        restart: games longer than this are followed by one from their middle; 0 for never.
        seed: where all games come from.
        threads: how many games are played at the same time. With one, the same plan gives the
            same weights, bit for bit.

    Raises:
        WeightsError: if a value cannot be used; the message names it.
    """

    rules_text: str = "classic"
    tuples: str = ""
    stages: tuple[int, ...] = ()
    ranks: int = PACKED_RANKS
    rate: float = 1.0
    trace: float = 0.5
    path: int = 65536
    coherent: bool = True
    optimism: float = 0.0
    carousel: bool = False
    restart: int = 0
    seed: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        for name, low, high in (
            ("rate", 0.0, 10.0),
            ("trace", 0.0, 1.0),
            ("path", 1, 10**8),
            ("restart", 0, 10**8),
            ("threads", 1, 1024),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise WeightsError(f"{name} must be {low} to {high}, not {value}")
        if self.carousel and not self.stages:
            raise WeightsError("a carousel goes round the stages: give stages, such as 8192,16384")
        check_rules(self.layout, self.rules)

    @cached_property
    def rules(self) -> Rules:
        """The rules."""
        return Rules.parse(self.rules_text)

    @cached_property
    def layout(self) -> Layout:
        """The network's layout."""
        shape = self.rules.shape
        tuples = parse_tuples(self.tuples or default_tuples(*shape), *shape)
        return Layout(*shape, tuples, self.stages, self.ranks)

    @classmethod
    def for_network(cls, network: Network, *, threads: int = 1) -> Plan:
        """Return a plan that leaves a network's weights as they are."""
        return plan_from({**data_of(network), "coherent": False, "threads": threads})

    def changed(self, values: Mapping[str, Any]) -> Plan:
        """Return the plan with other values, of those that may change while it is followed.

        Raises:
            WeightsError: if one may not, or a value cannot be used.
        """
        for name in values:
            if name not in CHANGEABLE and values[name] != self.data().get(name):
                raise WeightsError(
                    f"--resume goes on with the plan as it was: {name} cannot change, "
                    f"only {', '.join(CHANGEABLE)}"
                )
        if values.get("ranks", self.ranks) != self.ranks and not self.layout.is_packed:
            raise WeightsError("ranks can change on boards of up to four a side only")
        return plan_from(self.data() | dict(values))

    def data(self) -> dict[str, Any]:
        """Return the plan as plain values, with the rules in full, as `plan_from` takes them."""
        values = asdict(self) | {"stages": list(self.stages), "rules": str(self.rules)}
        del values["rules_text"]
        return values


def data_of(network: Network) -> dict[str, Any]:
    """Return what a network's weights say of a plan, as `plan_from` takes it."""
    layout = network.layout
    return {
        "rules": str(network.rules),
        "tuples": " ".join(map(cells_text, layout.tuples)),
        "stages": list(layout.stages),
        "ranks": layout.ranks,
    }


def plan_from(values: Mapping[str, Any]) -> Plan:
    """Return the plan that plain values describe; what they leave out is as in `Plan`.

    Raises:
        WeightsError: if a name is unknown or a value has the wrong type.
    """
    return value_from(Plan, values, {"rules": "rules_text"})


def value_from(kind: type[Value], values: Mapping[str, Any], names: Mapping[str, str]) -> Value:
    """Return a data class filled from plain values, whose names may stand for others.

    Raises:
        WeightsError: if a name is unknown or a value has the wrong type.
    """
    kinds = get_type_hints(kind)
    shown = {name: key for key, name in names.items()}
    known = {shown.get(name, name): name for name in kinds if name in _fields(kind)}
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise WeightsError(f"a training has no {name!r}{did_you_mean(name, known)}")
        chosen[known[name]] = _typed(name, value, kinds[known[name]])
    return kind(**chosen)


def _fields(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}


def _typed(name: str, value: Any, kind: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if kind == tuple[int, ...]:
        if isinstance(value, list) and all(type(number) is int for number in value):
            return tuple(value)
        raise WeightsError(f"{name} = {value!r} must be a list of whole numbers")
    if type(value) is not kind:
        raise WeightsError(f"{name} = {value!r} must be of type {kind.__name__}")
    return value


def load_toml(path: Path) -> dict[str, Any]:
    """Return the values in a TOML file.

    Raises:
        WeightsError: if it cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path}: {error}") from None
