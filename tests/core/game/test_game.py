"""Moves, scores, outcomes, undo and redo under every rule set."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import directions, games, presets, seeds

from py2048 import Board, Direction, Game, Outcome, Record, Rules, get_rules
from py2048.core.errors import BoardError, GameOverError, IllegalMoveError
from py2048.core.game import Spawn
from py2048.core.game.game import History

STUCK = Board.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
LEFT, RIGHT, UP, DOWN = Direction.LEFT, Direction.RIGHT, Direction.UP, Direction.DOWN


@given(presets, seeds, st.lists(directions, max_size=30))
def test_same_rules_seed_and_moves_give_the_same_game(rules, seed, moves):
    """A game is a pure function of its rules, seed and moves."""
    one, two = Game(rules, seed=seed), Game(rules, seed=seed)
    for move in moves:
        assert one.attempt(move) == two.attempt(move)
    replayed = Game.from_history(History(rules, seed, tuple(moves)))
    assert one.positions() == two.positions() == replayed.positions()


@given(presets, seeds)
def test_a_start_follows_the_rules(rules, seed):
    """The number and values of start tiles are allowed by the rules."""
    board = Game(rules, seed=seed).start
    tiles = [tile for row in board.rows for tile in row if tile]
    assert rules.start.low <= len(tiles) <= rules.start.high
    assert set(tiles) <= set(rules.start_weights.tiles)
    assert board.shape == rules.shape


def test_the_extreme_draws_give_the_fewest_and_the_most_start_tiles():
    """Every number of start tiles that the rules allow can be drawn."""
    for word, tiles in ((0, 1), (2**64 - 1, 25)):
        assert Game("cits1401", draws=lambda *_, word=word: word).start.sum == 2 * tiles


def test_draws_have_the_documented_counters():
    """The start has counters of its own; the counter of a spawn is the ply of its turn."""
    counters = []
    game = Game("classic", draws=lambda counter, _: counters.append(counter) or 0)
    for _ in range(2):
        game.play(game.legal_directions()[0])
    assert counters == [2**63, 2**63 + 1, 2**63 + 2, 0, 1]


@given(games())
def test_undo_and_redo_walk_the_history(game):
    """Undoing all turns returns to the start; redoing them restores the end and all spawns."""
    end, turns, trail = game.board, game.turns, [game.board]
    score = game.score
    while game.undo():
        trail.append(game.board)
    assert (game.board, game.score, game.ply, game.can_undo) == (game.start, 0, 0, False)
    assert game.turn_count == 0
    assert game.record().finished == ""
    assert game.undo() is None
    assert game.undone == turns
    for board in reversed(trail[:-1]):
        game.redo()
        assert game.board == board
    assert (game.board, game.score, game.turns) == (end, score, turns)
    assert game.turn_count == len(turns)
    assert bool(game.record().finished) == bool(turns)
    assert game.redo() is None


def test_a_new_move_discards_undone_turns():
    """A new move discards the undone turns."""
    game = Game(seed=1)
    first, *_ = game.legal_directions()
    game.play(first)
    game.undo()
    assert game.can_redo
    game.play(game.legal_directions()[-1])
    assert not game.can_redo


def test_undoing_does_not_change_what_spawns():
    """The same move at the same ply spawns the same tile, so undo cannot fish for better ones."""
    game = Game(seed=3)
    turn = game.play(game.legal_directions()[0])
    game.undo()
    assert game.play(turn.direction) == turn


def test_an_illegal_move_raises_and_changes_nothing():
    """An illegal move is rejected with the direction and the board."""
    game = Game(get_rules("2x4"), board=Board.parse("2 4 . . / . . . ."), seed=1)
    with pytest.raises(IllegalMoveError, match=r"left changes nothing on 2 4 \. \. / \. \. \. \."):
        game.play(LEFT)
    assert (game.ply, game.score, game.turns, game.can_redo) == (0, 0, (), False)
    assert not game.attempt(LEFT)
    assert game.turns == ()


def test_a_move_after_the_end_raises():
    """A stuck game is over."""
    game = Game(board=STUCK, seed=1)
    assert game.legal_directions() == ()
    with pytest.raises(GameOverError, match="no move changes"):
        game.play(LEFT)
    assert not game.attempt(LEFT)


def test_play_continues_past_the_target_unless_the_rules_end_there():
    """Classic games continue after a win; comp1127 games end."""
    board = Board.parse("1024 1024 . . / . . . . / . . . . / . . . .")
    classic = Game(board=board, seed=1)
    classic.play(LEFT)
    assert classic.has_won
    won = Game(board="2048 4 . . / . . . . / . . . . / . . . .")
    with pytest.raises(IllegalMoveError, match=r"^left changes nothing"):
        won.play(LEFT)
    assert classic.outcome is Outcome.PLAYING
    course = Game(get_rules("comp1127"), board=board, seed=1)
    course.play(LEFT)
    assert course.outcome is Outcome.WON
    assert course.legal_directions() == ()
    with pytest.raises(GameOverError, match="2048"):
        course.play(RIGHT)
    assert not course.attempt(RIGHT)


@pytest.mark.parametrize(
    ("rules", "board", "outcome"),
    [
        ("classic", STUCK, Outcome.LOST),
        ("classic", STUCK.with_tile((0, 0), 4096), Outcome.WON),
        ("classic:target=none", STUCK, Outcome.ENDED),
    ],
)
def test_a_stuck_game_is_won_with_its_target_and_lost_without(rules, board, outcome):
    """A game without a target just ends."""
    assert Game(rules, board=board, seed=1).outcome is outcome


@given(games())
def test_scores_follow_the_rules(game):
    """All three kinds of scoring are applied."""
    legal = [turn for turn in game.turns if turn.legal]
    match game.rules.name:
        case "cits1401":
            assert game.score == len(legal) - (len(game.turns) - len(legal))
        case "qsan_qarut":
            assert game.score == (game.board.sum if legal else 0)
        case _:
            assert game.score == sum(turn.slide.points for turn in legal)
            assert len(legal) == len(game.turns)


def test_an_illegal_attempt_costs_a_point_under_cits1401():
    """A penalised attempt may make the score negative, spawns nothing, and can be undone."""
    rules = get_rules("cits1401")
    board = Board.parse("2 . . . . / . . . . . / . . . . . / . . . . . / . . . . .")
    game = Game(rules, board=board, seed=1)
    assert [game.attempt(LEFT), game.attempt(UP)] == [False, False]
    assert (game.score, game.ply, game.board) == (-2, 0, board)
    assert [turn.legal for turn in game.turns] == [False, False]
    assert game.attempt(DOWN)
    assert (game.score, game.ply) == (-1, 1)
    game.undo()
    game.undo()
    assert game.score == -1
    with pytest.raises(IllegalMoveError):
        game.play(UP)
    assert game.score == -1


MIDDLE = Board.empty(5, 5).with_tile((2, 2), 2)


@pytest.mark.parametrize(
    ("board", "direction", "cell"),
    [
        *((MIDDLE, UP, (4, 4)), (MIDDLE, DOWN, (0, 0))),
        *((MIDDLE, LEFT, (0, 4)), (MIDDLE, RIGHT, (4, 0))),
        ("2 . . . 2/4 . . . 4/2 . . . 2/4 . 2 . 4/2 . . . 2", UP, (4, 3)),
    ],
)
def test_the_edge_spawn_has_a_fixed_cell(board, direction, cell):
    """Each direction has a fixed cell for edge spawns, or the next empty one along the edge."""
    game = Game(get_rules("cits1401"), board=board, seed=1)
    assert game.play(direction).spawn == Spawn(2, cell)


def test_a_spawn_can_be_given_but_must_be_possible():
    """A given spawn is checked against the rules; if it is impossible, nothing changes."""
    game = Game(board=Board.parse("2 2 . . / . . . . / . . . . / . . . ."), seed=1)
    for spawn, reason in [
        (Spawn(8, (3, 3)), r"never spawns .*\(ply 1, after left\)"),
        (Spawn(2, (0, 0)), "occupied"),
        *((Spawn(2, cell), "outside") for cell in ((4, 0), (0, 4), (-1, 0), (0, -1))),
        (Spawn(2, (0.5, 0)), "not a cell"),
    ]:
        with pytest.raises(IllegalMoveError, match=reason):
            game.play(LEFT, spawn=spawn)
    assert game.turns == ()
    game.play(LEFT, spawn=Spawn(4, (3, 3)))
    assert game.board[3, 3] == 4
    assert game.record().seed is None


def test_a_start_is_drawn_or_set_up():
    """Only the start that the seed draws is a drawn one, also in a record."""
    drawn = Game(seed=1)
    for game, is_drawn in ((drawn, True), (Game(seed=2, board=drawn.start), False)):
        assert game.has_drawn_start() == game.record().has_seeded_start() == is_drawn
    assert not replace(drawn.record(), seed=None).has_seeded_start()


def test_a_board_must_fit_the_rules():
    """A board of the wrong size is rejected with both sizes."""
    for rows, columns in ((2, 3), (5, 4)):
        with pytest.raises(BoardError, match=f"4x4, not on a board of {rows}x{columns}"):
            Game(board=Board.empty(rows, columns))


@given(games())
def test_a_game_survives_its_record(game):
    """`Game.from_record` restores all turns, ready to be undone."""
    again = Game.from_record(Record.from_json(game.record().to_json()))
    assert (again.board, again.score, again.turns) == (game.board, game.score, game.turns)
    assert again.outcome is game.outcome


def test_control_characters_are_removed_from_names():
    """Records drop control characters from player names, so every record verifies."""
    record = Game("classic", seed=1, player="\x1b[2JAda\x9b").record()
    record.verify()
    assert record.player == "[2JAda"


def test_a_notebook_shows_the_game_and_trusts_no_name():
    """Names are escaped in the HTML of notebooks."""
    told = Game(Rules.parse("<b>:size=3x3"), seed=1)._repr_html_()
    assert told.startswith("<div>&lt;b&gt;: 0 points, 0 moves, playing</div><table")
