"""The page's rules against the engine's."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.server.test_page_modules import node

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.game.turn import Turn, decode_steps, outcome_of, score_after, spawn_error
from py2048.core.rules import BoardSum, Rules, list_rules
from py2048.server.http.assets import STATIC

ASK = """
import { readFileSync } from "node:fs";
const [rulesModule, gameModule, recordModule] = process.argv.slice(1);
const { parseRules, slide, scoreOf } = await import(rulesModule);
const { outcomeOf, scoreAfter, spawnOn } = await import(gameModule);
const { codeOf } = await import(recordModule);
const pick = choices => Math.floor(Math.random() * choices);
function turned(rules, direction, slid) {
  if (!slid.changed) return [codeOf(direction, null, rules), null, null];
  const spawn = spawnOn(rules, slid.board, direction, pick);
  slid.board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
  const score = scoreAfter(rules.scoring, 8, slid);
  return [codeOf(direction, spawn, rules), score, outcomeOf(rules, slid.board)];
}
for (const line of readFileSync(0, "utf8").split("\\n")) {
  const { text, boards } = JSON.parse(line);
  const rules = parseRules(text);
  for (const board of boards) {
    const slides = ["up", "down", "left", "right"].map(direction => {
      const slid = slide(board, direction, rules.merging);
      const told = [slid.changed, slid.points, slid.board.map(row => [...row])];
      const ways = slid.motions.map(m => [m.source, m.target, m.merged]);
      return [told, ways, scoreOf(rules.scoring, slid), turned(rules, direction, slid)];
    });
    console.log(JSON.stringify([[rules.rows, rules.columns], slides]));
  }
}
"""
SIDES = (Direction.UP, Direction.DOWN, Direction.LEFT, Direction.RIGHT)
OWN = ("row:size=1x6,merging=cascade",)
"""Rules with features that no preset has."""


def boards_of(rules: Rules, count: int, draw: random.Random) -> list[Board]:
    """Return boards of all densities with few different tiles, so that many merge."""
    boards = []
    for _ in range(count):
        tiles = [0] * draw.randrange(4) + [2 << draw.randrange(draw.choice((2, 4, 40)))] + [2, 4]
        board = [[draw.choice(tiles) for _ in range(rules.columns)] for _ in range(rules.rows)]
        boards.append(Board.from_rows(board))
    return boards


def asked(questions: list[tuple[Rules, list[Board]]]) -> Iterator[Any]:
    """Yield rules, board, the engine's slide and the page's for each question and direction."""
    lines = [
        json.dumps({"text": str(rules), "boards": [each.rows for each in boards]})
        for rules, boards in questions
    ]
    modules = [str(STATIC / "js" / name) for name in ("rules.js", "game.js", "record.js")]
    command = [node(), "--input-type=module", "-e", ASK, *modules]
    done = subprocess.run(
        command, check=False, input="\n".join(lines), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answers = map(json.loads, done.stdout.splitlines())
    for rules, boards in questions:
        for board in boards:
            shape, slides = next(answers)
            assert tuple(shape) == rules.shape
            for direction, told in zip(SIDES, slides, strict=True):
                yield rules, board, board.slide(direction, rules.merging), told
    assert next(answers, None) is None


def test_the_page_plays_as_the_engine_does() -> None:
    """Slides, motions, scores, spawns, outcomes and turn codes agree with the engine."""
    draw = random.Random(random.getrandbits(64))
    every = [*list_rules(), *map(Rules.parse, OWN)]
    questions = [(rules, boards_of(rules, 40, draw)) for rules in every]
    for rules, board, slide, (told, ways, score, turn) in asked(questions):
        where = (rules.name, board, slide.direction)
        rows = [list(row) for row in slide.board.rows]
        assert told == [slide.changed, slide.points, rows], where
        motions = [[list(each.source), list(each.target), each.merged] for each in slide.motions]
        assert ways == motions, where
        check_turn(rules, slide, score, *turn)


def check_turn(rules: Rules, slide: Slide, known: int, code: str, score: int, outcome: str) -> None:
    """Check a slide's points, and the turn that the page plays without the server."""
    ((direction, spawn),) = decode_steps(code, rules.shape)
    turn = Turn(slide.direction, slide, spawn)
    assert direction is slide.direction
    assert turn.legal is slide.changed
    change = score_after(rules, 8, turn, turn.board) - 8
    assert known == (None if isinstance(rules.scoring, BoardSum) else change)
    if spawn is not None:
        assert spawn_error(rules, slide.board, direction, spawn) is None
        assert (score, outcome) == (8 + change, outcome_of(rules, turn.board).value)
