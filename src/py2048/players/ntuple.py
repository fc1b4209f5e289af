"""The player with a trained n-tuple network."""

from __future__ import annotations

from functools import cache

from py2048.errors import PlayerError
from py2048.ntuple.network import Network
from py2048.ntuple.shipped import shipped_network
from py2048.ntuple.weights import load
from py2048.players.searching import SearchPlayer
from py2048.rules import Rules
from py2048.search.limits import Limits


class NtuplePlayer(SearchPlayer):
    """Plays by a trained n-tuple network, one move ahead; weights=FILE brings your own."""

    def __init__(self, weights: str = "") -> None:
        if weights:
            _loaded(weights)  # a file that cannot be used is refused at once
        name = f"ntuple:weights={weights}" if weights else "ntuple"
        super().__init__(name, Limits(depth=1), lambda rules: network_for(rules, weights))


def network_for(rules: Rules, weights: str = "") -> Network:
    """Return the network in the files `weights`, or the one that comes with py2048 for the rules.

    Raises:
        PlayerError: if there is none, or it is for other rules.
    """
    if not weights:
        return _shipped(rules)
    network = _loaded(weights)
    if not network.suits(rules):
        raise PlayerError(f"the weights in {weights} are for {network.rules}, not {rules}")
    return network


@cache
def _loaded(weights: str) -> Network:
    return load(*weights.split("+"))


def _shipped(rules: Rules) -> Network:
    network = shipped_network(rules)
    if network is None:
        raise PlayerError(
            f"no weights come with py2048 for the rules {rules.name}: train some with "
            "py2048 train, then play ntuple:weights=FILE"
        )
    return network
