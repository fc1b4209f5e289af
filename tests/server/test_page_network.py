"""The page's network against the package's: values of boards and moves, and hints."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.server.test_page_modules import node

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import WeightsError
from py2048.core.rules import Rules, get_rules
from py2048.players import Unit
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import browser_script, load, save, save_packed
from py2048.presentation.hints import direction_rows
from py2048.server.http.assets import STATIC
from py2048.server.site.pages import NETWORKS

ASK = """
import { readFileSync } from "node:fs";
const [module, script] = process.argv.slice(1);
const { Network, hintOf } = await import(module);
await import(script);
const network = await Network.unpack(globalThis.network);
for (const line of readFileSync(0, "utf8").split("\\n")) {
  const { board, text } = JSON.parse(line);
  const rated = network.rate({ board, rules: { text } });
  const options = rated.length ? hintOf(rated).options : [];
  console.log(JSON.stringify([network.value(board), rated, options]));
}
"""


def boards_of(rules: Rules, count: int) -> list[Board]:
    """Return boards of all densities, with large and small tiles."""
    draw, found = random.Random(random.getrandbits(64)), []
    for _ in range(count):
        tiles = [0] * draw.randrange(4) + [2, 4] + [2 << draw.randrange(18) for _ in range(4)]
        rows = [[draw.choice(tiles) for _ in range(rules.columns)] for _ in range(rules.rows)]
        found.append(Board.from_rows(rows))
    return found


def check(path: Path, boards: list[Board], folder: Path) -> None:
    """Check that the page values boards, rates moves and words hints as the package does."""
    network, script = load(path), folder / "network.mjs"
    script.write_bytes(browser_script(path))
    lines = [json.dumps({"board": each.rows, "text": str(network.rules)}) for each in boards]
    command = [node(), "--input-type=module", "-e", ASK, str(STATIC / "js/network.js"), str(script)]
    done = subprocess.run(
        command, check=False, input="\n".join(lines), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [value for value, *_ in told] == [network.value(each) for each in boards]
    for board, (_, rated, options) in zip(boards[:1000], told, strict=False):
        slides = [board.slide(each, network.rules.merging) for each in board.legal_directions()]
        moves = [(str(it.direction), it.points + network.value(it.board)) for it in slides]
        moves.sort(key=lambda move: -move[1])
        assert [(move["direction"], move["worth"]) for move in rated] == moves, board
        if moves:
            values = {Direction[name.upper()]: worth for name, worth in moves}
            rows = direction_rows(values, next(iter(values)), Unit.POINTS)
            assert [[each["text"], each["share"], each["grade"]] for each in options] == [
                [row.text, pytest.approx(row.share), row.grade] for row in rows
            ], board


def test_the_page_values_boards_as_the_package_does(tmp_path: Path) -> None:
    """10,000 boards, also with tiles beyond those of the network, have exactly the same values."""
    check(NETWORKS["classic"], boards_of(get_rules("classic"), 10_000), tmp_path)


def test_stages_have_weights_of_their_own(tmp_path: Path) -> None:
    """A staged network values a board with the weights of its stage."""
    rules, path = get_rules("2x4"), tmp_path / "staged.npz"
    layout = NetworkLayout(2, 4, ((0, 1), (0, 4, 5)), (8, 64))
    draw = np.random.default_rng()
    weights = draw.integers(-99, 99, layout.weights).astype(np.float32)
    save_packed(Network(layout, rules, weights), path, step=0.5)
    check(path, boards_of(rules, 100), tmp_path)


def test_exact_weights_are_not_for_browsers(tmp_path: Path) -> None:
    """Exact weights are rejected: they are large and round differently."""
    layout = NetworkLayout(2, 2, ((0, 1),))
    rules = get_rules("classic:size=2x2")
    save(Network(layout, rules, np.zeros(layout.weights, np.float32)), tmp_path / "exact.npz")
    with pytest.raises(WeightsError, match="not for browsers"):
        browser_script(tmp_path / "exact.npz")
