"""`request_move` (1 mark) and `game_2048` (3 marks)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from py2048.board import Board, Slide
from py2048.courses.grading import Check, Example, SubmissionSession, Task
from py2048.courses.ist.grading.board import DIRECTIONS
from py2048.courses.ist.grading.right_types import (
    BOARD,
    COORDINATE,
    OTHER_COORDINATE,
    REQUEST_MOVE,
    board_patches,
    replacing,
)
from py2048.courses.ist.grading.words import ENGLISH, Words
from py2048.errors import BoardError

PROMPT = "Pick a move (N, S, E, W): "
REFUSAL = "Invalid move."

_LINE = r"(?:\[ \d+ \] ?){4}\s*\n"
_BOARD = rf"((?:{_LINE}){{4}})Score: (\d+)"


def _asks_again(wrong: Sequence[str], letter: str) -> Example:
    refusals = f"{PROMPT}{REFUSAL}\n" * len(wrong)
    return Example("request_move()", letter, typed=[*wrong, letter], prints=refusals + PROMPT)


REQUEST = Task(
    id="3",
    title="request_move",
    asked=(
        "Ask for a move until one of N, S, E and W is typed, exactly so, and return it; "
        "say so each time when it is none."
    ),
    marks=1,
    checks=(
        Check("asks and returns the letter", [_asks_again((), letter) for letter in "NSEW"]),
        Check(
            "asks again until the answer is one of the four capital letters",
            [
                _asks_again(("1", "a", "n"), "N"),
                *(
                    _asks_again((wrong,), "E")
                    for wrong in ("", "NS", "SE", "EW", "e", "North", "X")
                ),
                *(_asks_again((wrong,), "S") for wrong in ("S ", " S", "NSEW", "W,", "'S'")),
            ],
        ),
    ),
)


class Scene(NamedTuple):
    """What the player sees before an answer: a board and its score."""

    board: Board
    score: int

    def __str__(self) -> str:
        rows = [" ".join(f"[ {value} ]" for value in row) for row in self.board.rows]
        return "\n".join([*rows, f"Score: {self.score}"])


class Played(NamedTuple):
    """A game as it was seen.

    Attributes:
        scenes: the boards that were shown, the start first.
        letters: what was typed, one letter between two scenes.
        ended: whether the game ended, rather than asked for more letters.
        closing: whether a board was shown after the last letter of a game that ended.
    """

    scenes: list[Scene]
    letters: list[str]
    ended: bool
    closing: bool

    def turns(self) -> Iterator[tuple[Scene, str, Scene]]:
        """Scenes before and after each letter."""
        yield from zip(self.scenes, self.letters, self.scenes[1:], strict=False)


def play(session: SubmissionSession, letters: Sequence[str], seed: int, words: Words) -> Played:
    """Play with these letters; the scenes are read from what the game prints."""
    session.shown.clear()
    outcome = session.run(words("game_2048()"), typed=letters, seed=seed)
    _tell(session, letters, outcome.asked, words)
    if outcome.error is not None and outcome.error.type != "EOFError":
        session.fail("a game", str(outcome.error))
    *questions, rest = outcome.output.split(words(PROMPT))
    ended = outcome.error is None
    scenes: list[Scene] = []
    for part in questions:
        scenes.append(_scene_before_a_question(session, scenes, part, words))
    closing = _last_scene(rest, words) if ended else None
    if closing is not None:
        scenes.append(closing)
    if not scenes:
        session.fail("a board", f"printed {outcome.output!r}")
    return Played(scenes, list(letters[: len(scenes) - 1]), ended, closing is not None)


def _scene_before_a_question(
    session: SubmissionSession, scenes: Sequence[Scene], part: str, words: Words
) -> Scene:
    scene = _last_scene(part, words)
    if scene is None and scenes and words(REFUSAL) in part:
        return scenes[-1]  # to call a move that changes nothing invalid is as good
    if scene is None:
        session.fail("the board before each question", f"printed {part!r}")
        raise AssertionError
    return scene


def _tell(session: SubmissionSession, letters: Sequence[str], asked: int, words: Words) -> None:
    """Show the letters that were read, the last few of them if there are many."""
    read = list(letters[:asked])
    typed = f"# typed: {'… ' if len(read) > 12 else ''}{' '.join(read[-12:])}"
    session.shown[:] = [words("game_2048()"), *([typed] if read else [])]


def _last_scene(text: str, words: Words) -> Scene | None:
    found = re.findall(words(_BOARD), text)
    if not found:
        return None
    lines, score = found[-1]
    try:
        board = Board.from_rows(
            [map(int, re.findall(r"\d+", line)) for line in lines.strip().splitlines()]
        )
    except BoardError:
        return None
    return Scene(board, int(score))


def _at(
    session: SubmissionSession,
    words: Words,
    before: Scene,
    letter: str,
    expected: str,
    after: Scene,
) -> None:
    """Report what came after `letter` on the board `before`."""
    picture = [f"# {line}" for line in words(str(before)).splitlines()]
    session.shown[:] = [words("game_2048()"), *picture, f"# typed: {letter}"]
    _fail(session, words, expected, f"\n{after}")


def _fail(session: SubmissionSession, words: Words, expected: str, actual: str) -> None:
    session.fail(words(expected), words(actual))


def _slide(before: Scene, letter: str) -> Slide:
    return before.board.slide(DIRECTIONS[letter])


def _new_tile(slide: Slide, after: Board) -> int | None:
    """Return the tile that makes `after` of the slid board, if exactly one does."""
    new = [cell for cell in slide.board.empty_cells() if after[cell]]
    if len(new) == 1 and slide.board.with_tile(new[0], after[new[0]]) == after:
        return after[new[0]]
    return None


def _letters(seed: int, count: int) -> list[str]:
    return random.Random(seed).choices("NSEW", k=count)


def check_moves(session: SubmissionSession, played: Played, words: Words) -> None:
    """Fail unless each move that changes the board is a slide and one new tile."""
    for before, letter, after in played.turns():
        slide = _slide(before, letter)
        if not slide.changed:
            continue
        if _new_tile(slide, after.board) not in (2, 4):
            afterstate = Scene(slide.board, before.score + slide.points)
            _at(session, words, before, letter, f"one new 2 or 4 on\n{afterstate}", after)
        if after.score != before.score + slide.points:
            _at(session, words, before, letter, f"Score: {before.score + slide.points}", after)


def _moves(session: SubmissionSession, words: Words = ENGLISH) -> None:
    for seed in range(4):
        played = play(session, _letters(seed, 40), seed, words)
        if len(played.letters) < 10:
            session.fail("a game of more than ten moves", f"{len(played.letters)} moves")
        check_moves(session, played, words)


def _nothing_moved(session: SubmissionSession, words: Words = ENGLISH) -> None:
    for seed in range(4):
        letters = [letter for letter in _letters(seed, 10) for _ in range(4)]
        for before, letter, after in play(session, letters, seed, words).turns():
            if not _slide(before, letter).changed and after != before:
                _at(session, words, before, letter, "the same board again", after)


def _spawns(session: SubmissionSession, words: Words = ENGLISH) -> None:
    """Two tiles at the start; then a 4 one time in five, judged over many moves."""
    tiles: list[int] = []
    for seed in range(10):
        played = play(session, _letters(seed, 150), seed, words)
        start = played.scenes[0]
        if 16 - len(start.board.empty_cells()) != 2 or start.score:
            _fail(session, words, "two tiles and score 0 at the start", f"\n{start}")
        found = (
            _new_tile(slide, after.board)
            for before, letter, after in played.turns()
            if (slide := _slide(before, letter)).changed
        )
        tiles.extend(tile for tile in found if tile)
    share = tiles.count(4) / max(1, len(tiles))
    session.shown[:] = [words("game_2048()  # ten times")]
    if not 0.14 < share < 0.26:
        session.fail("a 4 one time in five", f"{tiles.count(4)} fours in {len(tiles)} new tiles")


def _ends(session: SubmissionSession, words: Words = ENGLISH) -> None:
    for seed in range(2):
        played = play(session, _letters(seed, 3000), seed, words)
        last = played.scenes[-1]
        asked_at = played.scenes[:-1] if played.closing else played.scenes
        stuck = [scene for scene in asked_at if not scene.board.legal_directions()]
        if stuck:
            _fail(session, words, "the end, as no move is left", f"another question at\n{stuck[0]}")
        if not played.ended:
            _fail(session, words, "an end", f"still asking at\n{last}")
        if not played.closing:
            session.fail("the board at the end", "none")
        if last.board.legal_directions():
            _fail(session, words, "to go on while a move is left", f"the end at\n{last}")


_RICH = """
def _start_with_two_tiles_of_1024(module):
    empty_board = module.create_board

    def create_board(*ignored):
        b = empty_board()
        b = module.board_fill_position(b, module.create_coordinate(1, 1), 1024)
        return module.board_fill_position(b, module.create_coordinate(1, 2), 1024)

    module.create_board = create_board

_start_with_two_tiles_of_1024(project)
"""


def _plays_on(session: SubmissionSession, words: Words = ENGLISH) -> None:
    """Give the game a board with two tiles of 1024."""
    letters = ["W", *_letters(1, 12)]
    with replacing(session, words(_RICH)):
        played = play(session, letters, 1, words)
    if played.scenes[0].board.max_tile < 1024:
        _fail(session, words, "a game on the board of create_board", f"\n{played.scenes[0]}")
    if len(played.letters) < len(letters):
        _fail(session, words, "to play on after 2048", f"the end at\n{played.scenes[-1]}")


def _keeps_to_the_operations(session: SubmissionSession, words: Words = ENGLISH) -> None:
    """Play with types that are represented in another way."""
    with replacing(session, words(OTHER_COORDINATE + BOARD)):
        played = play(session, _letters(5, 30), 5, words)
    session.shown.append("# coordinates and boards are represented in another way")
    if len(played.letters) < 10:
        session.fail("a game of more than ten moves", f"{len(played.letters)} moves")
    check_moves(session, played, words)


GAME = Task(
    id="4",
    title="game_2048",
    asked=(
        "Play a whole game: two tiles at the start, the board before each question, a new tile "
        "after each move that changed the board (2 with 0.8, 4 with 0.2), on past 2048, until "
        "no move is left; then the final board."
    ),
    marks=3,
    checks=(
        Check("two tiles at the start, and a 4 one time in five", run=_spawns),
        Check("each move is a reduction, its points and one new tile", run=_moves),
        Check("a move that changes nothing brings nothing new", run=_nothing_moved),
        Check("the game goes on after 2048", run=_plays_on),
        Check("the game ends when no move is left and shows the final board", run=_ends),
        Check("the game uses both types through their operations", run=_keeps_to_the_operations),
    ),
    reference_patches=(
        COORDINATE + BOARD + REQUEST_MOVE,
        *(patch + REQUEST_MOVE for patch in board_patches()),
    ),
)
