"""The four tasks of the IST project, with the assignment's marks, and their checks."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from py2048.core.board import Board, Cell, Slide
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.language import _
from py2048.courses.grading import (
    Check,
    Example,
    Grading,
    Raises,
    SubmissionSession,
    TextLines,
    calling,
    read_sheet,
    right_versions,
)
from py2048.courses.grading.boards import (
    EMPTY,
    LINES,
    Rows,
    as_lists,
    checkered,
    lists,
    with_one_gap,
    with_one_pair,
)
from py2048.courses.grading.chance import Odds, judge_cells
from py2048.courses.grading.submissions import line_numbers
from py2048.courses.ist import adt

SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")

# --- the two languages ---

# The course is taught in Portuguese, and the assignment was translated. Checks are written in
# English, and the session translates names and strings for programs in Portuguese.

PORTUGUESE = {
    "create_coordinate": "cria_coordenada",
    "coordinate_row": "coordenada_linha",
    "coordinate_col": "coordenada_coluna",
    "is_coordinate": "e_coordenada",
    "coordinates_equal": "coordenadas_iguais",
    "create_board": "cria_tabuleiro",
    "board_position": "tabuleiro_posicao",
    "board_score": "tabuleiro_pontuacao",
    "board_empty_positions": "tabuleiro_posicoes_vazias",
    "board_fill_position": "tabuleiro_preenche_posicao",
    "board_update_score": "tabuleiro_actualiza_pontuacao",
    "board_reduce": "tabuleiro_reduz",
    "is_board": "e_tabuleiro",
    "board_finished": "tabuleiro_terminado",
    "boards_equal": "tabuleiros_iguais",
    "print_board": "escreve_tabuleiro",
    "copy_board": "copia_tabuleiro",
    "fill_random_position": "preenche_posicao_aleatoria",
    "request_move": "pede_jogada",
    "game_2048": "jogo_2048",
    "invalid arguments": "argumentos invalidos",
    "Score:": "Pontuacao:",
    "Pick a move": "Introduza uma jogada",
    "Invalid move.": "Jogada invalida.",
}
_LONGEST_FIRST = sorted(map(re.escape, PORTUGUESE), key=len, reverse=True)
_TRANSLATED = re.compile(rf"(?<!\w)(?:{'|'.join(_LONGEST_FIRST)})(?!\w)")


def in_portuguese(part: Any) -> Any:
    """Translate a string, or all strings in a value, into Portuguese."""
    match part:
        case str():
            return _TRANSLATED.sub(lambda word: PORTUGUESE[word[0]], part)
        case list() | tuple():
            return type(part)(map(in_portuguese, part))
        case dict():
            return {in_portuguese(key): value for key, value in part.items()}
        case Example() | Raises() | TextLines():
            return replace(part, **{k: in_portuguese(value) for k, value in vars(part).items()})
    return part


# --- reference versions of the two data types ---

_DOCUMENT = [name for name in PORTUGUESE if "_" in name]
_COORDINATES = [name for name in _DOCUMENT if "coordinate" in name]


def _right(*names: str) -> str:
    return right_versions(adt, names, "project", document=_DOCUMENT)


COORDINATE = _right(*_COORDINATES)
BOARD = _right(*(name for name in _DOCUMENT if "board" in name))
REQUEST_MOVE = _right("request_move")

# The next functions run in the submission's process, in which `module` is the student's module.
# The student may represent boards in any way, so each replacement uses the student's other
# operations.


def other_coordinates(module: Any) -> None:
    """Represent coordinates as strings.

    Programs that access coordinates only through the operations still work. Coordinates that the
    program has stored in constants keep working, too.
    """
    is_theirs, row_of, col_of = module.is_coordinate, module.coordinate_row, module.coordinate_col
    ours = {}
    parts = [value for name, value in vars(module).items() if name[:2] != "__"]
    for part in parts:
        if is_theirs(part) is True:
            ours[id(part)] = f"r{row_of(part)}c{col_of(part)}"
        elif isinstance(part, (list, tuple, set, frozenset, dict)) and len(parts) < 1000:
            parts += [*part, *(part.values() if isinstance(part, dict) else ())]

    def text(c: Any) -> Any:
        return ours.get(id(c), c)

    def create_coordinate(row: object, column: object) -> str:
        if row not in (1, 2, 3, 4) or column not in (1, 2, 3, 4):
            raise ValueError("create_coordinate: invalid arguments")
        return f"r{row}c{column}"

    module.create_coordinate = create_coordinate
    module.coordinate_row = lambda c: int(text(c)[1])
    module.coordinate_col = lambda c: int(text(c)[3])
    module.is_coordinate = lambda c: isinstance(text(c), str) and text(c)[0::2] == "rc"
    module.coordinates_equal = lambda c1, c2: text(c1) == text(c2)


def fix_modifiers(module: Any, names: Any) -> None:
    """Make the submission's modifiers update their board argument in place and return it."""

    def become(b: Any, new: Any) -> None:
        if isinstance(b, list):
            b[:] = new
        elif isinstance(b, dict):
            b.update(new)
        else:
            vars(b).update(vars(new))

    def steady(theirs: Any) -> Any:
        def modifier(b: Any, *rest: Any) -> Any:
            new = theirs(b, *rest)
            if new is not None and new is not b:
                become(b, new)
            return b

        return modifier

    for name in names:
        if hasattr(module, name):
            setattr(module, name, steady(getattr(module, name)))


def add_points_by_merging(module: Any) -> None:
    """Replace `board_update_score` with a function that earns the points by a merge."""

    def board_update_score(b: Any, v: int) -> Any:
        first, second = module.create_coordinate(1, 1), module.create_coordinate(1, 2)
        if v:
            module.board_fill_position(b, first, v // 2)
            module.board_fill_position(b, second, v // 2)
            module.board_reduce(b, "W")
            module.board_fill_position(b, first, 0)
        return b

    module.board_update_score = board_update_score


def read_printed_board(module: Any, names: Any) -> None:
    """Replace accessors with functions that parse the board printed by the submission."""
    import contextlib
    import io
    import re

    def seen(b: Any) -> list[int]:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            module.print_board(b)
        return [int(number) for number in re.findall("-?[0-9]+", text.getvalue())]

    def board_position(b: Any, c: Any) -> Any:
        return seen(b)[(module.coordinate_row(c) - 1) * 4 + module.coordinate_col(c) - 1]

    def board_score(b: Any) -> int:
        return seen(b)[16]

    replaced = {"board_position": board_position, "board_score": board_score}
    for name in names:
        setattr(module, name, replaced[name])


def fix_constructor(module: Any) -> None:
    """Make `create_board` work without arguments and return independent boards."""
    from copy import deepcopy

    theirs = module.create_board

    def create_board(*ignored: object) -> Any:
        try:
            return deepcopy(theirs())
        except TypeError:
            return deepcopy(theirs(0))

    module.create_board = create_board


def start_near_2048(module: Any) -> None:
    """Make every board start with two tiles of 1024."""
    empty_board = module.create_board

    def create_board(*ignored: object) -> Any:
        b = empty_board()
        b = module.board_fill_position(b, module.create_coordinate(1, 1), 1024)
        return module.board_fill_position(b, module.create_coordinate(1, 2), 1024)

    module.create_board = create_board


OTHER_COORDINATE = calling(other_coordinates, "project")


def board_patches(*about: str) -> tuple[str, ...]:
    """Return patches that replace all board operations except those in `about`."""
    modifiers = {"board_fill_position", "board_update_score", "board_reduce"} - {*about}
    accessors = {"board_position", "board_score"} - {*about}
    steady = calling(fix_modifiers, "project", repr(sorted(modifiers)))
    if "create_board" not in about:
        steady = calling(fix_constructor, "project") + steady
    scored = "" if "board_update_score" in about else calling(add_points_by_merging, "project")
    read = calling(read_printed_board, "project", repr(sorted(accessors)))
    return (COORDINATE, steady, steady + scored, read, COORDINATE + steady + scored + read)


def build(rows: Rows = EMPTY, score: int = 0) -> str:
    """Return code that creates a board `b` with the given values and score."""
    fills = [
        f"board_fill_position(b, create_coordinate({r}, {c}), {value})"
        for r, row in enumerate(rows, 1)
        for c, value in enumerate(row, 1)
        if value
    ]
    points = [f"board_update_score(b, {score})"] if score else []
    return "\n".join(["b = create_board()", *points, *fills])


def refused(call: str, arguments: Iterable[str], given: str = build()) -> list[Example]:
    """Return examples that must raise an error, one for each of the arguments.

    By default, `b` is a board.
    """
    error = Raises("ValueError", f"{call.partition('(')[0]}: invalid arguments")
    return [Example(call.format(argument), error, given=given) for argument in arguments]


_CELLS = [(row, column) for row in range(1, 5) for column in range(1, 5)]
_OUTSIDE = ("-1, 1", "0, 1", "1, 5", "0, 0", "5, 1", "1, 0", "4, 5", "100, 1")
_NO_INTEGERS = ("1.0, 1", "1, 2.5", "'1', 1", "1, None", "[1], 1", "(1, 2), 1", "1, '4'")
_OTHER_THINGS = (
    *("0", "None", "'a'", "''", "{}", "[]", "()", "1.5", "[1, 2]", "(1,)", "(0, 1)", "(1, 5)"),
    *("(1, 2, 3)", "('a', 'b')", "(1.0, 2.0)", "(None, 1)", "'ab'", "'15'", "create_coordinate"),
)


def _made(row: int, column: int) -> str:
    return f"create_coordinate({row}, {column})"


def _accessor(name: str, index: int) -> Check:
    """Check that `name` returns the right number, and that `==` compares rows and columns."""
    another = (4, 3) if index else (2, 4)
    return Check(
        f"{name} returns the number that the coordinate was created with",
        [
            *(Example(f"{name}({_made(*cell)})", cell[index]) for cell in _CELLS),
            Example(f"{_made(2, 3)} == {_made(*another)}", False),
        ],
    )


COORDINATES = SHEET.task(
    "1",
    Check(
        "create_coordinate returns an immutable value and refuses numbers outside 1 to 4",
        [
            Example(f"isinstance({_made(2, 3)}, (list, dict, set, bytearray))", False),
            *refused("create_coordinate({})", _OUTSIDE, given=""),
        ],
    ),
    Check(
        "create_coordinate refuses anything but integers with a ValueError",
        [Example(_made(2, 3)), *refused("create_coordinate({})", _NO_INTEGERS, given="")],
    ),
    _accessor("coordinate_row", 0),
    _accessor("coordinate_col", 1),
    Check(
        "is_coordinate returns True for coordinates and False for anything else",
        [Example(f"is_coordinate({_made(*cell)})", True) for cell in _CELLS]
        + [Example(f"is_coordinate({thing})", False) for thing in _OTHER_THINGS],
        weight=2,
    ),
    Check(
        "coordinates_equal compares row and column",
        [
            Example(f"coordinates_equal({_made(*first)}, {_made(*second)})", first == second)
            for first in _CELLS
            for second in _CELLS
            if first[0] in (1, 3) or first == second[::-1]
        ],
        weight=2,
    ),
)


DIRECTIONS = dict(zip("NSWE", Direction, strict=True))
SCORE_OF_B = "board_score(b)"
ROWS_OF_B = (
    "[[board_position(b, create_coordinate(r, c)) for c in (1, 2, 3, 4)] for r in (1, 2, 3, 4)]"
)


def output_of(rows: Rows, score: int) -> TextLines:
    """Return the expected output of `print_board`. Trailing spaces are ignored."""
    lines = [" ".join(f"[ {value} ]" for value in row) for row in rows]
    return TextLines("\n".join([*lines, f"Score: {score}"]))


def _row(*values: int) -> Rows:
    return [[*values], *EMPTY[1:]]


def _random(seed: str, tiles: int) -> Rows:
    """Return a board with `tiles` random tiles."""
    draw = random.Random(f"{seed} {tiles}")
    cells = draw.choices((2, 2, 4, 4, 8, 16), k=tiles) + [0] * (16 - tiles)
    draw.shuffle(cells)
    return [cells[n : n + 4] for n in range(0, 16, 4)]


def _boards(seed: str) -> Iterator[Rows]:
    """Yield boards that test `board_reduce`: boards for common mistakes, then random boards."""
    for values in LINES:
        yield _row(*values)
        yield [[0, 0, value, 0] for value in values]
    # A program that finds lines with list.index moves only the first of several equal lines.
    yield lists("0 2 2 0 / 0 2 2 0 / 4 0 0 4 / 0 2 2 0")
    yield lists("2 2 0 0 / 0 0 0 0 / 2 2 0 0 / 0 0 0 0")
    yield checkered()
    for number in range(2):
        yield from (_random(f"{seed} {number}", tiles) for tiles in (2, 6, 8, 11, 14, 16))


def _reductions(seed: str, result: str, score: int = 0) -> Iterator[Example]:
    """For each board and direction, yield an example that checks `result` after the move."""
    for rows in _boards(seed):
        for letter, direction in DIRECTIONS.items():
            slide = Board.from_rows(rows).slide(direction)
            found = {ROWS_OF_B: as_lists(slide.board.rows), SCORE_OF_B: slide.points + score}
            then = {result: found[result]}
            yield Example(f"board_reduce(b, '{letter}')", given=build(rows, score), then=then)


def _reduced_results(seed: str) -> Iterator[Example]:
    yield from _reductions(seed, SCORE_OF_B, score=4)
    for letter in DIRECTIONS:
        yield Example(f"board_reduce(b, '{letter}') is b", True, given=build(_row(0, 2, 2, 0)))
    wrong = ("'n'", "''", "'NS'", "'X'", "None", "1", "'North'", "['N']", "('N',)", "'N '")
    yield from refused("board_reduce(b, {})", wrong)


def _finished(seed: str) -> Iterator[Example]:
    """Yield examples that call `board_finished` on many boards. The boards must not change."""
    full = [rows for rows in _boards(seed) if all(map(all, rows))]
    sparse = EMPTY, _row(2, 0, 0, 0), _row(2, 2, 4, 8)
    for rows in (*sparse, checkered(), *with_one_pair(), *with_one_gap(), *full):
        finished = all(map(all, rows)) and not Board.from_rows(rows).can_move()
        unchanged = {ROWS_OF_B: rows, SCORE_OF_B: 4}
        yield Example("board_finished(b)", finished, given=build(rows, 4), then=unchanged)


def _keeps_coordinates_abstract(session: SubmissionSession) -> None:
    """Check that the board works with a different representation of coordinates.

    The check is skipped if the submission has functions of task 2, but not all functions of task 1.
    """
    missing = f"[name for name in {tuple(_COORDINATES)} if not hasattr(project, name)]"
    begun = "hasattr(project, 'create_board')"
    if session.value(begun, show=False) and session.value(missing, show=False):
        return
    session.run(OTHER_COORDINATE)
    session.begin()
    session.shown.append(_("# coordinates now have a different representation"))
    session.expect(build(lists("2 2 0 0 / 0 0 0 0 / 0 0 0 8 / 0 0 0 0")))
    session.expect("board_position(b, create_coordinate(3, 4))", 8)
    session.expect("len(board_empty_positions(b))", 13)
    session.expect("coordinate_col(board_empty_positions(b)[0])", 3)
    session.expect("board_score(board_reduce(b, 'E'))", 4)
    session.expect("board_position(b, create_coordinate(1, 4))", 4)
    session.expect("print_board(b)")


_TWO_BOARDS = "b = create_board()\nother = create_board()\n"
_FILL_ONE = "board_fill_position(b, create_coordinate(1, 1), 2)"
_OTHERS = "board_position(other, create_coordinate(1, 1))"
_NO_COORDINATES = ("0", "None", "'x'", "(0, 1)", "(5, 5)", "[1, 1]", "(1.5, 2)")
_NO_VALUES = ("'2'", "2.0", "None", "[2]")
_NO_POINTS = ("2", "3", "-4", "-1", "4.0", "'4'", "None", "[4]")
_NO_BOARDS = (
    *("'a'", "0", "None", "[]", "{}", "()", "(1, 2)", "True", "[[0] * 4] * 4", "[1, 2, 3, 4, 5]"),
    *("[[1, 2], [3]]", "(1, 2, 3, 4, 5)", "[None] * 4", "'abcde'", "[[2, 4, 8, 16]] * 5", "[1, 2]"),
    *("{'a': 1}", "{1: 2, 3: 4}", "[[], 0]", "([1, 2, 3, 4], 0)", "1.5", "create_board"),
)
_MIXED = lists("2 0 0 4 / 0 8 0 0 / 0 0 16 0 / 32 0 0 64")
_EMPTIES = "[(coordinate_row(c), coordinate_col(c)) for c in board_empty_positions(b)]"
_PUT = "board_fill_position(b, create_coordinate(2, 3), {})"
_AT_2_3 = "board_position(b, create_coordinate(2, 3))"


def other(rows: Rows, score: int) -> str:
    """Return code that builds a board and names it `other`."""
    return build(rows, score).replace("b = ", "other = ").replace("(b,", "(other,")


def _comparisons(seed: str) -> Iterator[Example]:
    """Yield examples that compare all pairs of boards from a list."""
    rows = EMPTY, _row(2, 0, 0, 0), _row(0, 2, 0, 0), _row(4, 0, 0, 0), _MIXED, _MIXED[::-1]
    boards = product((*rows, _random(seed, 10)), (0, 4))
    for one, two in product(boards, repeat=2):
        given = f"{build(*one)}\n{other(*two)}"
        yield Example("boards_equal(b, other)", one == two, given=given)


def _empty_positions(seed: str) -> Iterator[Example]:
    for rows in (EMPTY, _MIXED, _row(2, 4, 8, 16), checkered(), _random(seed, 9)):
        cells = [(row + 1, column + 1) for row, column in Board.from_rows(rows).empty_cells()]
        yield Example(_EMPTIES, cells, given=build(rows))
    yield Example("create_coordinate(1, 2) in board_empty_positions(b)", True, given=build())
    yield Example("isinstance(board_empty_positions(b), list)", True, given=build())


def _printed_boards(seed: str) -> Iterator[Example]:
    drawn = _random(seed, 13), random.Random(seed).randrange(4, 2048, 4)
    for board in ((EMPTY, 0), (_MIXED, 0), (_MIXED, 2096), (_row(2048, 0, 0, 0), 4), drawn):
        yield Example("print_board(b)", None, given=build(*board), prints=output_of(*board))
    yield from refused("print_board({})", ("'a'", "0", "None", "[]"))


BOARDS = SHEET.task(
    "2",
    Check(
        "create_board returns a new empty board with score 0",
        [
            Example(ROWS_OF_B, EMPTY, given=build()),
            Example("board_score(create_board())", 0),
            Example(_FILL_ONE, given=_TWO_BOARDS, then={_OTHERS: 0}),
            Example(_FILL_ONE, given=build(), then={ROWS_OF_B: _row(2, 0, 0, 0)}),
        ],
        reference_patches=board_patches("create_board"),
    ),
    Check(
        "board_position returns a value and refuses anything but coordinates",
        lambda seed: [
            Example(ROWS_OF_B, _MIXED, given=build(_MIXED)),
            Example(ROWS_OF_B, _random(seed, 12), given=build(_random(seed, 12))),
            Example("board_position(create_board(), create_coordinate(2, 4))", 0),
            *refused("board_position(b, {})", _NO_COORDINATES),
        ],
        reference_patches=board_patches("board_position"),
    ),
    Check(
        "board_update_score adds non-negative multiples of 4, and board_score returns the sum",
        [
            Example("board_score(board_update_score(b, 4))", 4, given=build()),
            Example("board_score(board_update_score(b, 0))", 8, given=build(score=8)),
            Example("board_score(board_update_score(b, 2048))", 2056, given=build(score=8)),
            Example("board_update_score(b, 4)", given=build(), then={"board_score(b)": 4}),
            Example("board_update_score(b, 4) is b", True, given=build()),
            *refused("board_update_score(b, {})", _NO_POINTS),
        ],
        reference_patches=board_patches("board_score", "board_update_score"),
    ),
    Check("board_empty_positions lists the empty positions row by row", _empty_positions),
    Check(
        "board_fill_position accepts any integer and refuses other arguments",
        [
            Example(_PUT.format(2), given=build()),
            *(
                Example(_PUT.format(value), given=build(_MIXED), then={_AT_2_3: value})
                for value in (2, 0, 3, -2, 131072)
            ),
            Example(f"{_PUT.format(2)} is b", True, given=build()),
            *refused("board_fill_position(b, {}, 2)", _NO_COORDINATES),
            *refused("board_fill_position(b, create_coordinate(1, 1), {})", _NO_VALUES),
        ],
        reference_patches=board_patches("board_fill_position"),
    ),
    Check(
        "board_reduce moves the tiles and merges each at most once",
        partial(_reductions, result=ROWS_OF_B),
        reference_patches=board_patches("board_reduce"),
    ),
    Check(
        "board_reduce updates the score, returns its board and refuses other directions",
        _reduced_results,
        reference_patches=board_patches("board_reduce"),
    ),
    Check(
        "is_board returns True for boards and False for anything else",
        [
            Example("is_board(b)", True, given=build()),
            Example("is_board(b)", True, given=build(_MIXED, 8)),
            Example("is_board(b)", True, given=f"{build(_MIXED)}\nboard_reduce(b, 'N')"),
            Example("is_board(create_coordinate(1, 1))", False),
            *(Example(f"is_board({thing})", False) for thing in _NO_BOARDS),
        ],
    ),
    Check("board_finished is True only for stuck boards, and changes nothing", _finished),
    Check("boards_equal compares the values and the score", _comparisons),
    Check(
        "print_board prints the values and the score and refuses anything but boards",
        _printed_boards,
    ),
    Check(
        "the board uses coordinates only through their operations",
        run=_keeps_coordinates_abstract,
        reference_patches=board_patches()[1:-1],
    ),
    patches=board_patches(),
)


MAX_SHOWN_LETTERS = 50
"""Maximum number of moves listed in a report. Longer games are reported as code."""

PROMPT = "Pick a move (N, S, E, W): "
REFUSAL = "Invalid move."

_LINE = r"(?:\[ \d+ \] ?){4}\s*\n"
_BOARD = rf"((?:{_LINE}){{4}})Score: (\d+)"


def _asks(wrong: Sequence[str], letter: str) -> Example:
    refusals = f"{PROMPT}{REFUSAL}\n" * len(wrong)
    return Example("request_move()", letter, typed=[*wrong, letter], prints=refusals + PROMPT)


REQUEST = SHEET.task(
    "3",
    Check("request_move returns the letter", [_asks((), letter) for letter in "NSEW"]),
    Check(
        "request_move asks again until the answer is one of the four capital letters",
        [
            _asks(("1", "a", "n", "S ", "NS", ""), "N"),
            *(_asks((wrong,), "E") for wrong in ("", "NS", "SE", "EW", "e", "North", "X")),
            *(_asks((wrong,), "S") for wrong in ("S ", " S", "NSEW", "W,", "'S'")),
        ],
    ),
)


class PrintedBoard(NamedTuple):
    """A printed board and its score."""

    board: Board
    score: int

    def __str__(self) -> str:
        return output_of(as_lists(self.board.rows), self.score).text


class ObservedGame(NamedTuple):
    """A game, parsed from its output.

    Attributes:
        seed: Seed of the random module.
        scenes: The printed boards in order.
        letters: The typed moves. Move `i` was typed between the boards `i` and `i + 1`.
        ended: Whether the game ended without asking for another move.
        final_boards: How many boards the game printed after its last move.
        setting: Comment in the report about how this game differs from a normal one, or "".
        unexpected_question: Text for the report if the game asked an unexpected question.
    """

    seed: int
    scenes: list[PrintedBoard]
    letters: list[str]
    ended: bool
    final_boards: int
    setting: str = ""
    unexpected_question: str = ""

    def turns(self) -> Iterator[tuple[PrintedBoard, str, PrintedBoard]]:
        """Yield (board before, move, board after) for each move."""
        yield from zip(self.scenes, self.letters, self.scenes[1:], strict=False)


def play(
    session: SubmissionSession, letters: Sequence[str], seed: int, setting: str = ""
) -> ObservedGame:
    """Play the given moves, and parse the boards in the game's output."""
    session.shown[:] = _repeat(letters, seed, setting)
    outcome = session.run("game_2048()", typed=letters, seed=seed, show=False)
    session.shown[:] = _repeat(letters[: outcome.asked], seed, setting)
    if outcome.error is not None and outcome.error.type != "EOFError":
        session.fail(_("a game"), str(outcome.error))
    *questions, rest = outcome.output.split(session.words(PROMPT))
    ended = outcome.error is None
    scenes: list[PrintedBoard] = []
    for part in questions:
        scene = _last_scene(session, part)
        if scene is None and scenes and session.words(REFUSAL) in part:
            scene = scenes[-1]  # Programs may reject a move that does not change the board.
        if scene is None:
            printed = _("printed {text}").format(text=repr(part))
            session.fail(_("the board before each question"), printed)
        scenes.append(scene)
    final_boards = len(re.findall(session.words(_BOARD), rest)) if ended else 0
    closing = _last_scene(session, rest) if ended else None
    if closing is not None:
        scenes.append(closing)
    if not scenes:
        session.fail(_("a board"), _("printed {text}").format(text=repr(outcome.output)))
    typed = list(letters[: len(scenes) - 1])
    more = _other_question(session, [*questions, rest]) if outcome.asked > len(questions) else ""
    return ObservedGame(seed, scenes, typed, ended, final_boards, setting, more)


def _other_question(session: SubmissionSession, parts: Sequence[str]) -> str:
    """Return a message that quotes an unexpected question of the game."""
    known = session.words(f"{_BOARD}|{REFUSAL}")
    rests = (re.sub(known, "", part).strip() for part in parts)
    asked = [rest.splitlines()[-1] for rest in rests if rest]
    message = _("an unexpected question, {question}, then ")
    return message.format(question=repr(asked[-1] if asked else ""))


def _repeat(letters: Sequence[str], seed: int, setting: str = "") -> list[str]:
    """Return code that replays a game, for the student to run."""
    special = [setting] if setting else []
    if not letters:
        return [*special, "import random", f"random.seed({seed})", "game_2048()"]
    typed = repr("".join(letters))
    if len(letters) > MAX_SHOWN_LETTERS:
        typed = f"random.Random({seed}).choices('NSEW', k={len(letters)})"
    return [
        *special,
        "import io, random; from unittest.mock import patch",
        f"random.seed({seed})",
        f"patch('sys.stdin', io.StringIO('\\n'.join({typed})))(game_2048)()",
    ]


def _last_scene(session: SubmissionSession, text: str) -> PrintedBoard | None:
    for lines, score in re.findall(session.words(_BOARD), text)[-1:]:
        rows = [map(int, re.findall(r"\d+", line)) for line in lines.strip().splitlines()]
        with suppress(BoardError):
            return PrintedBoard(Board.from_rows(rows), int(score))
    return None


def _fail_at(
    session: SubmissionSession, played: ObservedGame, number: int, expected: str
) -> NoReturn:
    """Fail the check; report the output of the game's move `number`, counted from 1."""
    before, after = played.scenes[number - 1 : number + 1]
    letter = played.letters[number - 1]
    session.shown[:] = [
        *_repeat(played.letters[:number], played.seed, played.setting),
        _("# the last move, {letter}, is made on this board:").format(letter=letter),
        *(f"# {line}" for line in str(before).splitlines()),
    ]
    _fail(session, expected, f"{played.unexpected_question}\n{after}")


def _fail(session: SubmissionSession, expected: str, actual: str) -> NoReturn:
    """Fail the check, and translate the actual result into the language of the program."""
    session.fail(expected, session.words(actual))


def _slide(before: PrintedBoard, letter: str) -> Slide:
    return before.board.slide(DIRECTIONS[letter])


def _new_cell(slide: Slide, after: Board) -> Cell | None:
    """Return the new tile's cell, or None if the program added no tile or several tiles."""
    new = [cell for cell in slide.board.empty_cells() if after[cell]]
    if len(new) == 1 and slide.board.with_tile(new[0], after[new[0]]) == after:
        return new[0]
    return None


def _letters(seed: int, count: int) -> list[str]:
    return random.Random(seed).choices("NSEW", k=count)


def check_moves(session: SubmissionSession, played: ObservedGame) -> None:
    """Fail unless each move that changes the board is a slide followed by one new tile.

    The game must have more than ten moves.
    """
    if len(played.letters) < 10:
        moves = _("{n} moves").format(n=len(played.letters))
        session.fail(_("a game of more than ten moves"), moves)
    for number, (before, letter, after) in enumerate(played.turns(), 1):
        slide = _slide(before, letter)
        if not slide.changed:
            continue
        cell = _new_cell(slide, after.board)
        if cell is None or after.board[cell] not in (2, 4):
            wanted = PrintedBoard(slide.board, before.score + slide.points)
            _fail_at(session, played, number, _("one new 2 or 4 added to") + f"\n{wanted}")
        if after.score != before.score + slide.points:
            _fail_at(session, played, number, f"Score: {before.score + slide.points}")


def _moves(session: SubmissionSession) -> None:
    for seed in map(session.seed_for, range(4)):
        check_moves(session, play(session, _letters(seed, 40), seed))


def _nothing_moved(session: SubmissionSession) -> None:
    for seed in map(session.seed_for, range(4)):
        letters = [letter for letter in _letters(seed, 10) for _ in range(4)]
        played = play(session, letters, seed)
        for number, (before, letter, after) in enumerate(played.turns(), 1):
            if not _slide(before, letter).changed and after != before:
                _fail_at(session, played, number, _("the same board again"))


def _spawns(session: SubmissionSession) -> None:
    """Check that games start with two tiles, and that new tiles have random values and cells.

    Tiles are counted on each cell of the board, and also on the first and the last empty cell.
    """
    four = Odds(of=2)
    places: list[object] = [*_CELLS, "first", "last"]
    cells = {place: Odds(0.5, of=2 * len(places)) for place in places}
    starts: set[tuple[Cell, ...]] = set()
    for game, seed in enumerate(map(session.seed_for, range(MAX_GAMES)), 1):
        played = play(session, _letters(seed, 150), seed)
        start = played.scenes[0]
        starts.add(tuple(start.board.empty_cells()))
        if len(start.board.empty_cells()) != 14 or start.score:
            _fail(session, _("two tiles and score 0 at the start"), f"\n{start}")
        for before, letter, after in played.turns():
            slide = _slide(before, letter)
            cell = _new_cell(slide, after.board)
            if slide.changed and cell is not None:
                four.note(0.2, came=after.board[cell] == 4)
                _note_cell(cells, slide.board.empty_cells(), cell)
        session.shown[:] = [f"game_2048()  # {game} times"]
        if four.wrong:
            found = _("{seen} fours; {due} were expected")
            found = found.format(seen=four.seen, due=round(four.due))
            session.fail(_("a 4 with probability 1/5"), found)
        judge_cells(session, cells, _("new tiles on random empty cells"))
        if game >= 10 and all(odds.settled for odds in (four, *cells.values())):
            break
    if len(starts) == 1:
        _fail(session, _("two tiles on random cells"), _("always") + f"\n{start}")


def _note_cell(cells: Mapping[object, Odds], empty: Sequence[Cell], cell: Cell) -> None:
    """Record that a new tile appeared on `cell`, which was one of the `empty` cells."""
    for row, column in empty:
        cells[row + 1, column + 1].note(1 / len(empty), came=(row, column) == cell)
    cells["first"].note(1 / len(empty), came=cell == empty[0])
    cells["last"].note(1 / len(empty), came=cell == empty[-1])


MAX_GAMES = 40
MAX_LETTERS = 800  # The longest of 3,000 random games had 319 moves.


def _ends(session: SubmissionSession) -> None:
    for seed in map(session.seed_for, range(2)):
        played = play(session, _letters(seed, MAX_LETTERS), seed)
        last = played.scenes[-1]
        asked_at = played.scenes[:-1] if played.final_boards else played.scenes
        for number, scene in enumerate(asked_at):
            if not scene.board.legal_directions():
                session.shown[:] = _repeat(played.letters[:number], seed)
                wanted = _("the end, because no move is left")
                _fail(session, wanted, _("another question with") + f"\n{scene}")
        if not played.ended:
            _fail(session, _("the end of the game"), _("still asking with") + f"\n{last}")
        if played.final_boards != 1:
            session.fail(_("the board at the end, once"), str(played.final_boards))
        if last.board.legal_directions():
            ended = played.unexpected_question + _("the end with") + f"\n{last}"
            _fail(session, _("a game that continues while a move is left"), ended)


def _continues_after_2048(session: SubmissionSession) -> None:
    """Check that a game that starts with two tiles of 1024 continues after 2048."""
    seed = session.seed_for(1)
    letters = ["W", *_letters(seed, 12)]
    session.run(calling(start_near_2048, "project"))
    session.begin()
    setting = _("# create_board puts 1024 at (1, 1) and at (1, 2)")
    played = play(session, letters, seed, setting)
    if played.scenes[0].board.max_tile < 1024:
        _fail(session, _("a game on the board of create_board"), f"\n{played.scenes[0]}")
    if len(played.letters) < len(letters):
        ended = played.unexpected_question + _("the end with") + f"\n{played.scenes[-1]}"
        _fail(session, _("a game that continues after 2048"), ended)


def _keeps_types_abstract(session: SubmissionSession) -> None:
    """Check that the game still works with other representations of coordinates and boards."""
    seed = session.seed_for(5)
    session.run(OTHER_COORDINATE + BOARD)
    session.begin()
    setting = _("# coordinates and boards now have different representations")
    check_moves(session, play(session, _letters(seed, 30), seed, setting))


GAME = SHEET.task(
    "4",
    Check("starts with two tiles; new tiles and their cells are random", run=_spawns),
    Check("each move reduces the board, adds the points and adds one tile", run=_moves),
    Check("a move that changes nothing adds no tile", run=_nothing_moved),
    Check("the game continues after 2048", run=_continues_after_2048),
    Check("the game ends when no move is left and shows the final board", run=_ends),
    Check("the game uses both types only through their operations", run=_keeps_types_abstract),
    patches=tuple(patch + REQUEST_MOVE for patch in (COORDINATE + BOARD, *board_patches())),
)


def outside_ascii(text: str) -> Iterator[str]:
    """Yield a remark about non-ASCII characters, which the assignment forbids."""
    lines = [number for number, line in enumerate(text.split("\n"), 1) if not line.isascii()]
    if lines:
        yield _(
            "has characters outside ASCII ({places}): the document deducts 3 of its 20 marks "
            "for that; nothing is deducted here"
        ).format(places=line_numbers(lines))


ENGLISH_GRADING = Grading(
    course="ist",
    module="project",
    files=("project.py",),
    expects=("create_coordinate", "create_board", "board_reduce", "request_move", "game_2048"),
    tasks=(COORDINATES, BOARDS, REQUEST, GAME),
    remarks=outside_ascii,
    not_graded=(
        "The document gives 14 of 20 marks (70 %) for correct execution, which is graded here; "
        "a person judges readability (25 %) and style (5 %)."
    ),
)
PORTUGUESE_GRADING = replace(
    ENGLISH_GRADING,
    language="pt",
    words=in_portuguese,
    expects=in_portuguese(ENGLISH_GRADING.expects),
)
GRADING = replace(PORTUGUESE_GRADING, variants=(ENGLISH_GRADING,))
