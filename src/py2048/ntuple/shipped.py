"""The networks that come with py2048, one file for each rule set: ``<name of the preset>.npz``.

``measured.toml`` beside them says how well they play; how they were trained is in each file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from py2048.ntuple.network import Network, essence
from py2048.ntuple.weights import header_of, load
from py2048.rules import Rules

SHIPPED = Path(__file__).resolve().parent / "data"


def shipped_files() -> tuple[Path, ...]:
    """Return the files, by name."""
    return tuple(sorted(SHIPPED.glob("*.npz")))


def shipped_network(rules: Rules) -> Network | None:
    """Return the network for rules, or for a preset that plays like them; otherwise nothing."""
    path = _files().get(essence(rules))
    return _loaded(path) if path else None


def has_shipped(rules: Rules) -> bool:
    """Whether there is a network for rules. It is not loaded."""
    return essence(rules) in _files()


@cache
def _files() -> dict[tuple[object, ...], Path]:
    return {essence(Rules.parse(header_of(path)["rules"])): path for path in shipped_files()}


@cache
def _loaded(path: Path) -> Network:
    return load(path)
