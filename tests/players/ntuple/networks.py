"""Small networks for the tests of networks and weights files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.engine.boards import boards, pack

from py2048 import Board, Rules
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Boards, Network, ranks_of

SHAPES = {
    "classic": ("0123 4567 0145 1259", (256, 1024, 1536), 16),
    "classic:size=3x3": ("lines+squares", (64,), 5),
    "comp1127:size=2x4": ("0123 0145", (), 12),
    "qsan_qarut:size=2x5": ("squares+012", (128, 4096), 9),
    "classic:size=5x5": ("0-1-2 6-7-12 0-24", (16384,), 16),
}
"""For rules: tuples, stages and how many ranks weights tell apart."""


def network_of(text: str) -> Network:
    """Return a network with integer random weights, whose sums are exact in any order."""
    rules = Rules.parse(text)
    tuples, stages, ranks = SHAPES[text]
    layout = NetworkLayout(*rules.shape, parse_tuples(tuples, *rules.shape), stages, ranks)
    weights = np.random.default_rng(7).integers(-500, 500, layout.weights).astype(np.float32)
    return Network(layout, rules, weights, ({"games": 3, "moves": 4, "seconds": 5.0},))


def put_board(layout: NetworkLayout, boards: Boards, slot: int, board: Board) -> None:
    """Write a board to a slot of `boards`."""
    boards[slot] = pack(board) if layout.is_packed else ranks_of(layout, board)


NETWORKS = {text: network_of(text) for text in SHAPES}


def edited(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite a weights file with another header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    edit(header)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@st.composite
def positions(draw: st.DrawFn) -> tuple[Network, Board]:
    """Generate a network and a board of its shape, with tiles up to 2**17."""
    network = NETWORKS[draw(st.sampled_from(sorted(NETWORKS)))]
    return network, draw(boards([network.rules.shape]))


def called(path: Path) -> str:
    """Return the test id of a bundled network."""
    return f"{path.parent.name}/{path.stem}"
