"""A tracked game knows who played it, how long each turn took, and what is not saved yet."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from py2048 import Board, Direction, Game, Rules
from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import SavedGame

START = Board.parse("2 2 . . / . . . . / . . . . / . . . .")
STEPS = st.lists(st.sampled_from(["up", "left", "down", "right", "undo", "redo", "hint", "take"]))


def step(game: TrackedGame, action: str) -> None:
    """Undo, redo, count a hint or try a direction, which takes as many ms as turns were played."""
    match action:
        case "undo":
            game.undo()
        case "redo":
            game.redo()
        case "hint":
            game.count_hint()
        case _:
            game.attempt(Direction.parse(action), think_ms=game.position)


@given(STEPS, st.booleans())
def test_the_changes_add_up_to_the_game(steps, is_offline):
    """A change has the turns and, of games played here, the milestones since the previous one."""
    rules, revision, taken = Rules.parse("classic:target=16"), 0, 0
    game = TrackedGame(Game(rules, seed=2), offline=is_offline)
    codes: list[str] = []
    millis: list[int] = []
    tiles: list[int] = []
    for action in [*steps, "take"]:
        if action != "take":
            step(game, action)
            continue
        change = game.take_change()
        assert game.take_change() is None
        if change is None:
            continue
        assert change.seen == revision < change.revision == game.revision
        for ply, code, ms in change.turns:
            codes[ply:], millis[ply:] = [code], [ms]
            taken += 1
        revision = change.revision
        tiles += [tile for tile, *_ in change.reached]
        assert (codes, millis) == (game.codes, game.think_ms)
        assert (change.length, change.position) == (len(codes), game.game.turn_count)
        assert change.score == game.game.score
        assert (change.undos, change.hints) == (game.undos, game.hints)
    assert taken <= sum(action in ("up", "left", "down", "right") for action in steps)
    assert tiles == ([] if is_offline else sorted(set(tiles)))


@given(STEPS)
def test_a_stored_game_is_restored(steps):
    """A restored game has the board, the undone turns and the help of the stored one."""
    game = TrackedGame(Game(seed=1, player="Ada"), computer=True, offline=True, is_continued=True)
    game.attempt(game.game.legal_directions()[0])
    for action in steps:
        step(game, "hint" if action == "take" else action)
    change = game.take_change()
    assert change is not None
    saved = SavedGame(
        owner="ada", rules=str(game.game.rules), seed=1, start=str(game.game.start), player="",
        id=game.id, turns=tuple(game.codes), millis=tuple(game.think_ms), position=change.position,
        undos=change.undos, hints=change.hints, extra=change.extra, revision=change.revision,
    )  # fmt: skip
    again = TrackedGame.from_saved(saved)
    assert (again.game.board, again.game.undone) == (game.game.board, game.game.undone)
    assert (again.codes, again.think_ms, again.id) == (game.codes, game.think_ms, game.id)
    assert (again.details, again.is_continued) == (game.details, True)
    assert again.game.player == "Ada"
    assert change.extra["max_tile"] == game.game.board.max_tile
    assert not again.is_changed


def test_an_undone_move_counts_again_when_it_is_redone():
    """Every undo counts, and undo and redo at the ends change nothing."""
    game = TrackedGame(Game(seed=1))
    assert game.undo() is game.redo() is None
    assert (game.undos, game.revision) == (0, 0)
    game.attempt(game.game.legal_directions()[0])
    for undos in (1, 2):
        game.undo()
        assert (game.position, len(game.codes), game.undos) == (0, 1, undos)
        game.redo()
        assert (game.position, game.revision) == (1, 1 + 2 * undos)


def test_a_turn_takes_the_time_since_the_one_before(monkeypatch):
    """Thinking times are measured unless they are given; a record has those not undone."""
    clock = iter([9.0, 10.0, 10.25, 12.0, 13.0, 13.5, 14.0, 20.0, 21.0, 22.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    game = TrackedGame(Game(seed=1), last_turn_time=8.0)
    assert game.elapsed_ms == 0
    for think_ms in (5, None, 7, None):
        game.attempt(game.game.legal_directions()[0], think_ms)
    assert game.think_ms == [5, 250, 7, 1000]
    assert game.elapsed_ms == 250 + 7 + 1000 + 500
    game.undo()
    assert game.elapsed_ms == 250 + 7 + 1000
    assert (game.record().times, game.record().undos) == ((5, 250, 7), 1)
    over = TrackedGame(Game(Rules.parse("a:size=1x2,start=2x2:1,spawn=2:1,target=4")))
    over.attempt(Direction.LEFT)
    assert (over.game.is_over, over.elapsed_ms) == (True, 0)


def test_help_and_others_moves_decide_the_category():
    """The strongest help counts, and only a person's game from its first turn may be the best."""
    plain = TrackedGame(Game(seed=1))
    custom = TrackedGame(Game(board=START, seed=1))
    for game, category, may_be_best in [
        (plain, "plain", True),
        (custom, "assisted", True),
        (replace(plain, undos=1), "assisted", True),
        (replace(plain, hints=1), "assisted", True),
        (replace(plain, is_continued=True), "assisted", False),
        (replace(plain, computer=True, undos=1), "computer", False),
        (replace(plain, offline=True), "plain", True),
        (replace(plain, offline=True, computer=True), "computer", False),
    ]:
        assert (game.category, game.may_be_best) == (category, may_be_best)


def test_a_copy_is_played_on_independently():
    """Turns of a copy change neither the game nor its times."""
    game = TrackedGame(Game(seed=1))
    other = game.copy()
    other.attempt(other.game.legal_directions()[0])
    assert (game.position, game.codes, game.think_ms, game.is_changed) == (0, [], [], False)
    assert (other.id, other.is_changed) == (game.id, True)


def test_a_record_with_few_times_is_continued():
    """Missing thinking times are 0, and surplus ones are dropped."""
    game = Game(seed=1)
    for _ in range(3):
        game.play(game.legal_directions()[0])
    for times, kept in [((5,), [5, 0, 0]), ((5, 6, 7, 8), [5, 6, 7])]:
        record = replace(game.record(), times=times, undos=2, hints=3)
        tracked = TrackedGame.from_record(record, computer=False)
        assert (tracked.think_ms, tracked.undos, tracked.hints) == (kept, 2, 3)
        assert (tracked.revision, tracked.is_changed) == (3, True)
