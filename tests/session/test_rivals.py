"""Rivals: the same tiles appear as in their game, and a race counts as assisted."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import games

from py2048 import Game, get_rules, make_player
from py2048.errors import StorageError
from py2048.game.turn import draw_spawn, possible_cells
from py2048.session import PlayingRival, RecordedRival, Rival, Session, open_session
from py2048.session.rivals import word_for
from py2048.storage import open_store
from py2048.storage.schema import settings as settings_table
from py2048.ui.shared.review import record_title


def played(seed: int = 7, moves: int = 150, rules: str = "classic") -> Game:
    """A game by a simple player."""
    game, player = Game(get_rules(rules), seed=seed, player="Ada"), make_player("corner")
    while game.ply < moves and not game.is_over:
        game.play(player.choose(game))
    return game


@given(games())
def test_a_word_draws_the_tile_that_appeared(game: Game) -> None:
    """Under all rules, on the board where it appeared."""
    for turn in game.turns:
        if turn.spawn is not None:
            cells = possible_cells(game.rules, turn.slide.board, turn.direction)
            word = word_for(game.rules, turn.spawn, cells)
            drawn = draw_spawn(game.rules, turn.slide.board, turn.direction, word)
            assert drawn == turn.spawn


@settings(max_examples=20)
@given(st.booleans(), st.sampled_from(["classic", "3x3", "cmput175"]))
def test_the_same_moves_give_the_same_game(has_seed: bool, rules: str) -> None:
    """Whether the record has a seed or only its tiles."""
    game = played(rules=rules, moves=60)
    record = game.record() if has_seed else game.record().without_seed()
    session = Session()
    session.race(RecordedRival(record))
    assert session.game.board == game.start
    for turn in game.turns:
        session.move(turn.direction)
    assert session.game.board == game.board
    assert session.game.score == game.score
    assert session.record().seed == (game.seed if has_seed else None)


@pytest.mark.parametrize(
    ("player", "name"),
    [
        ("Ada", "Ada"),
        ("", "the record"),
        ("red\u2028and \u202emore\ud800", "red and more"),
        ("a" * 1000, "a" * 40 + "…"),
    ],
)
def test_the_name_of_a_rival_is_safe_to_show(player: str, name: str) -> None:
    """It comes from a record, which a stranger may have written."""
    record = replace(Game(get_rules("2x4"), seed=1).record(), player=player)
    assert RecordedRival(record).name == name
    assert f"by {'a person' if not player else name}" in record_title(record)


def test_the_game_goes_on_after_the_rivals_end() -> None:
    """With tiles of its own."""
    record = played(moves=3).record().without_seed()
    session = Session()
    session.race(RecordedRival(record))
    player = make_player("corner")
    for _ in range(20):
        session.autoplay_step(player)
    assert session.game.ply == 20


def test_a_race_counts_as_assisted_and_ends_with_the_next_game() -> None:
    """Here and in its record; a game after it is plain."""
    session = Session()
    session.race(RecordedRival(played().record(), "Ada"))
    assert (session.category, session.record().hints) == ("assisted", 1)
    assert session.rival is not None
    session.start()
    assert (session.category, session.rival) == ("plain", None)


def test_a_race_is_saved_as_assisted() -> None:
    """Quitting does not make it plain."""
    session = open_session()
    session.race(RecordedRival(played().record()))
    session.move(session.game.legal_directions()[0])
    session.close()
    again = open_session()
    assert again.resume()
    assert again.category == "assisted"
    again.close()


@pytest.mark.parametrize("has_seed", [True, False])
def test_a_race_is_resumed_with_its_rival(has_seed: bool) -> None:
    """Its name, its game and its tiles, also those that come from a record without a seed."""
    game = played(rules="3x3", moves=40)
    record = game.record() if has_seed else game.record().without_seed()
    session = open_session()
    session.race(RecordedRival(record, "my best game"))
    for turn in game.turns[:5]:
        session.move(turn.direction)
    session.close()
    again = open_session()
    assert again.resume()
    assert again.rival is not None
    assert again.rival.name == "my best game"
    assert again.rival.positions(99) == RecordedRival(record).positions(99)
    for turn in game.turns[5:]:
        again.move(turn.direction)
    assert again.game.board == game.board
    again.start()
    assert again.rival is None
    again.close()


def test_a_player_is_raced_against_again() -> None:
    """It plays the same game anew; games without a rival have none, nor where it is lost."""
    session = open_session()
    session.race(PlayingRival(get_rules("3x3"), make_player("corner"), "corner", seed=7))
    session.move(session.game.legal_directions()[0])
    session.close()
    again = open_session()
    assert again.resume()
    rival = again.rival
    assert isinstance(rival, PlayingRival)
    rival.wait(5)
    assert rival.positions(5) == played(rules="3x3", moves=5).positions()
    (saved,) = again.saved_games()
    again.set_setting(f"rival {saved.id}", {"player": "nobody", "rules": "3x3", "seed": 7})
    assert again.resume()
    assert again.rival is None
    again.close()


def a_rival(seed: int = 7) -> PlayingRival:
    """A simple player on a small board."""
    return PlayingRival(get_rules("2x2"), make_player("corner"), "corner", seed=seed)


def move(session: Session) -> None:
    """Make any move."""
    session.move(session.game.legal_directions()[0])


def rival_after_restart(game_id: str) -> Rival | None:
    """The rival that a saved game is resumed with by another process."""
    with closing(open_session()) as session:
        assert session.resume_game(game_id)
        return session.rival


def test_two_programs_keep_the_rivals_of_both() -> None:
    """Whichever writes last."""
    with closing(open_session()) as one, closing(open_session()) as two:
        for session in (one, two, one):
            session.race(a_rival())
            move(session)
        saved = one.saved_games()
    assert len(saved) == 3
    assert all(rival_after_restart(game.id) for game in saved)


def test_a_race_that_goes_on_in_two_windows_is_one_in_both() -> None:
    """The game that becomes one of its own has the same rival."""
    with closing(open_session()) as one, closing(open_session()) as two:
        one.race(a_rival())
        move(one)
        assert two.resume()
        move(one)
        two.undo()
        saved = two.saved_games()
    assert len(saved) == 2
    assert all(rival_after_restart(game.id) for game in saved)


def test_rivals_in_stores_of_earlier_versions_are_found() -> None:
    """There one setting has all of them."""
    with closing(open_session()) as session:
        session.start(get_rules("2x2"), seed=7)
        move(session)
        (saved,) = session.saved_games()
        session.set_setting("rivals", {saved.id: a_rival().to_json()})
    assert rival_after_restart(saved.id)


def test_rivals_of_games_that_are_over_are_forgotten() -> None:
    """What is kept does not grow, nor by races without a move."""
    with closing(open_session()) as session:
        for seed in range(3):
            session.race(a_rival(seed))
            while not session.game.is_over:
                move(session)
        session.race(a_rival(9))
        move(session)
        session.race(a_rival(10))
    with open_store() as store, store.read() as connection:
        keys = connection.scalars(sa.select(settings_table.c.key)).all()
        in_progress = store.games.select(finished=False)
    assert [f"rival {game.id}" for game in in_progress] == keys


def test_the_best_game_is_a_persons() -> None:
    """Computers' and continued games do not count; without a game there is nothing to race."""
    session = open_session()
    rules = get_rules("2x4")
    with pytest.raises(StorageError, match="no game of yours under the rules 2x4"):
        session.best_record(rules)
    scores = {}
    for seed, is_computer in ((1, False), (2, False), (3, True)):
        session.start(rules, seed=seed)
        player = make_player("corner")
        while not session.game.is_over:
            if is_computer:
                session.autoplay_step(player)
            else:
                session.move(player.choose(session.game))
        scores[seed] = session.game.score
    best_score = max(scores[1], scores[2])
    others = (played(seed, rules="2x4") for seed in range(4, 40))
    session.start_from(max(others, key=lambda game: game.score).record())
    assert session.undo()
    assert session.redo()  # the store keeps what is changed
    assert session.game.is_over
    assert session.game.score > best_score
    session.start(rules)
    assert session.finished(rules)[0].score > best_score
    best = session.best_record(rules)
    assert best.score == best_score
    session.close()


def test_the_game_that_has_just_ended_may_be_the_best() -> None:
    """It is no record yet."""
    with closing(open_session()) as session:
        rules = get_rules("2x4")
        session.start(rules, seed=1)
        while not session.game.is_over:
            move(session)
        assert session.finished(rules) == []
        assert session.best_record(rules) == session.record()
        with pytest.raises(StorageError, match="no game of yours"):
            session.best_record(get_rules("3x3"))


def test_a_player_plays_along() -> None:
    """Its game is the one that it plays with that seed; it waits for the person."""
    rival = PlayingRival(get_rules("classic"), make_player("corner"), "corner", seed=7)
    rival.wait(50)
    game = played(moves=50)
    assert rival.positions(50) == game.positions()
    assert not rival.is_over
    rival.close()


def test_a_player_that_fails_says_why() -> None:
    """The race goes on without it."""

    def fail(_: Game) -> None:
        raise ValueError("out of order")

    player = type("Broken", (), {"choose": staticmethod(fail)})()
    rival = PlayingRival(get_rules("classic"), player, "broken")
    rival.wait(1)
    assert (rival.fault, rival.is_over) == ("out of order", True)


def test_times_add_up() -> None:
    """To each move; a record without them has none."""
    record = played(moves=3).record()
    timed = RecordedRival(replace(record, times=(100, 200, 300)))
    assert [timed.elapsed_ms(ply) for ply in range(5)] == [0, 100, 300, 600, 600]
    assert RecordedRival(record).elapsed_ms(2) is None
