"""What is compiled only when it is used: searches and trainings, made for a kind of board."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from py2048.errors import PlayerError
from py2048.game import Game
from py2048.players.registry import make_player
from py2048.rules import Rules, list_rules

SPECS = "expectimax:depth=1", "heuristic:depth=1"
TRAINED = "classic", "3x3", "5x5"
"""A rule set for each kind of board that trainings tell apart."""


def uses() -> list[tuple[str, Callable[[], object]]]:
    """Return a first use of each player under each preset, and of each training, by name."""
    players = [
        (f"{spec.partition(':')[0]} under {rules.name}", partial(_ask, spec, rules))
        for rules in list_rules()
        for spec in SPECS
    ]
    return [*players, *((f"training for {name}", partial(_train, name)) for name in TRAINED)]


def _ask(spec: str, rules: Rules) -> None:
    """Let a player rate its first move, if it plays under these rules."""
    try:
        make_player(spec).rate(Game(rules, seed=1))
    except PlayerError:
        return


def _train(name: str) -> None:
    from py2048.ntuple.plan import Plan
    from py2048.ntuple.trainer import Trainer

    Trainer(Plan(rules_text=name)).prepare()
