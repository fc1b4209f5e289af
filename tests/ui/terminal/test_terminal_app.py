from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from py2048.engine import Board, Direction
from py2048.game import Game
from py2048.rules import Rules, get_rules, list_rules
from py2048.session import Session, StorageTrouble, open_session
from py2048.ui.terminal.app import GameApp
from py2048.ui.terminal.dialogs import Help, Menu, Prompt, Question
from py2048.ui.terminal.geometry import Arrangement
from py2048.ui.terminal.keys import COMMANDS, MOVES
from py2048.ui.themes import THEMES, ThemeError

SEED = 7
NEARLY_WON = "1024 1024 2 4\n2 4 8 16\n. . . .\n. . . ."
NEARLY_OVER = "4 4 2 8\n8 16 32 64\n2 4 8 16\n32 64 128 256"


def table(board: str = "", rules: str = "classic") -> Session:
    """A session that keeps nothing, with a game on it."""
    session = Session()
    session.start(Rules.parse(rules), seed=SEED, board=Board.parse(board) if board else None)
    return session


def shown(app: GameApp) -> str:
    """All text on the screen."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for something that another thread or a timer brings about."""
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    pytest.fail("it did not happen within five seconds")


async def test_every_move_key_slides() -> None:
    """Arrows, WASD and hjkl slide in their direction, in capitals too where letters are free."""
    board = Board.parse(". . . .\n. 2 . .\n. . . .\n. . . .")
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        for command in MOVES:
            for key in command.keys.split(","):
                session.start(board=board)
                await pilot.press(key)
                assert str(session.game.turns[0].direction) == command.label, key
                assert app.table.board.board == session.game.board


def test_no_key_is_bound_twice() -> None:
    """Each key does one thing."""
    keys = [key for command in (*MOVES, *COMMANDS) for key in command.keys.split(",")]
    assert len(set(keys)) == len(keys)


async def test_a_merge_shows_its_tile_its_points_and_the_new_best() -> None:
    """After a merge the screen has the new tile, the score, the best and the points gained."""
    session = table("64 64 . .\n. . . .\n. . . .\n. . . .")
    async with GameApp(session, reduced_motion=True).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, GameApp)
        await pilot.press("left")
        picture = shown(app)
        assert picture.count("128") >= 3  # the tile, the score, the best
        assert "+128" in picture
        assert app.table.status.score == app.table.status.best == 128
        await until(pilot, lambda: "+128" not in shown(app))


@pytest.mark.parametrize("animated", [True, False])
async def test_forty_keys_at_once_all_count(animated: bool) -> None:
    """Keys that come faster than the animation are all played, and the picture keeps up."""
    session, expected = table(), Game(get_rules("classic"), seed=SEED)
    keys = ["left", "up", "d", "j"] * 10
    for key in keys:
        expected.attempt(
            {"d": Direction.RIGHT, "j": Direction.DOWN}.get(key) or Direction.parse(key)
        )
    app = GameApp(session, reduced_motion=not animated)
    async with app.run_test() as pilot:
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: session.game.ply == expected.ply)
        assert session.game.board == expected.board
        assert app.table.board.board == expected.board
        await until(pilot, lambda: not app.table.board.is_moving)
        assert app.table.status.moves == expected.ply


async def test_a_new_key_finishes_the_running_animation() -> None:
    """While tiles slide, the next move starts from the finished board at once."""
    session = table()
    app = GameApp(session)
    async with app.run_test() as pilot:
        for key in ("left", "up"):
            app.post_message(events.Key(key, None))
        await until(pilot, lambda: session.game.ply == 2)
        assert app.table.board.board == session.game.board
        await until(pilot, lambda: not app.table.board.is_moving)


async def test_animation_can_be_switched_off_and_is_remembered() -> None:
    """X stops tiles from sliding, now and in the next session on the same store."""
    session = open_session()
    app = GameApp(session)
    async with app.run_test() as pilot:
        await pilot.press("x", "left", "up", "right")
        assert not app.table.board.is_moving
    session.close()
    again = open_session()
    assert not GameApp(again).presenter.is_animated
    again.close()


async def test_undo_and_redo() -> None:
    """U takes moves back to the start, r plays them again; both say when there is nothing."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        start = session.game.board
        await pilot.press("left", "up", "right")
        end = session.game.board
        await pilot.press("u", "u", "u")
        assert app.table.board.board == session.game.board == start
        await pilot.press("u")
        assert app.table.note == "There is nothing to take back."
        await pilot.press("r", "r", "r")
        assert app.table.board.board == session.game.board == end
        await pilot.press("r")
        assert app.table.note == "There is no move to play again."


async def test_help_that_was_taken_is_shown() -> None:
    """After an undo the game is marked as assisted, after a player's move as played by one."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up")
        assert "2 moves" in shown(app)
        assert "assisted" not in shown(app)
        await pilot.press("u")
        assert "1 move, assisted" in shown(app)
        session.autoplay_step("corner")
        await pilot.pause()
        assert "2 moves, by a player" in shown(app)


async def test_new_asks_while_a_game_is_in_progress() -> None:
    """N starts over at once at the start of a game, and asks after a move; Escape keeps it."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("n")
        assert not isinstance(app.screen, Question)
        await pilot.press("left", "up")
        board = session.game.board
        for refusal in ("n", "escape"):
            await pilot.press("n")
            assert isinstance(app.screen, Question)
            await pilot.press(refusal)
            assert session.game.board == board
        await pilot.press("n", "y")
        await pilot.pause()
        assert session.game.ply == 0


async def test_keys_do_not_move_tiles_behind_a_dialog() -> None:
    """While a question is open, the game does not hear the keys."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "n", "right", "down", "u")
        assert session.game.ply == len(session.game.turns) == 2
        assert isinstance(app.screen, Question)


async def test_the_game_is_resumed_on_start() -> None:
    """A game left in the middle is there again the next time, with its undo."""
    first = open_session()
    async with GameApp(first, reduced_motion=True).run_test() as pilot:
        await pilot.press("left", "up", "right")
        board, score, ply = first.game.board, first.game.score, first.game.ply
        assert ply > 0
    first.close()
    second = open_session()
    app = GameApp(second, reduced_motion=True)
    async with app.run_test() as pilot:
        assert (second.game.board, second.game.score, second.game.ply) == (board, score, ply)
        assert app.table.board.board == board
        assert app.table.note == "Game resumed"
        await pilot.press("u")
        assert second.game.ply == ply - 1
    second.close()


async def test_a_game_already_on_the_table_is_left_there() -> None:
    """The application does not replace a game that its caller has started."""
    session = table(rules="3x4")
    board = session.game.board
    app = GameApp(session, reduced_motion=True)
    async with app.run_test():
        assert session.game.board == board == app.table.board.board
        assert "3x4" in shown(app)


async def test_the_rules_menu_lists_every_preset() -> None:
    """M shows all presets; choosing one starts its game, with a board of its size."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("m")
        options = app.screen.query_one(OptionList)
        assert options.option_count == len(list_rules())
        await pilot.press("j", "down", "j", "enter")
        await pilot.pause()
        assert session.rules == list_rules()[3]
        assert app.table.grid is not None
        assert (app.table.grid.rows, app.table.grid.columns) == session.rules.shape


async def test_rules_of_ones_own_are_checked() -> None:
    """A text of one's own makes rules; a mistake is explained and nothing is lost."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("m", "tab")
        app.screen.query_one(Input).value = "clasic"
        await pilot.press("enter")
        trouble = app.screen.query_one(".trouble", Static)
        assert "did you mean 'classic'" in str(trouble.render())
        app.screen.query_one(Input).value = "classic:size=5x6"
        await pilot.press("enter")
        await pilot.pause()
        assert session.rules.shape == (5, 6)
        assert not isinstance(app.screen, Menu)


async def test_leaving_an_unkept_game_for_other_rules_asks() -> None:
    """A game that cannot be saved is not thrown away without a question."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "m", "down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, Question)
        await pilot.press("n")
        assert session.rules.name == "classic"


async def test_each_rule_set_keeps_its_own_game() -> None:
    """Going to other rules and back takes the first game up where it was left."""
    session = open_session()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "right")
        board = session.game.board
        await pilot.press("m", "down", "enter")
        await pilot.pause()
        assert session.rules.name == list_rules()[1].name
        await pilot.press("m", "up", "enter")
        await pilot.pause()
        assert session.game.board == board
    session.close()


async def test_games_in_progress_can_be_taken_up() -> None:
    """G lists the games that were left, and takes one up."""
    session = open_session()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("g")
        assert app.table.note == "There are no games in progress."
        await pilot.press("left", "up", "right")
        board = session.game.board
        await pilot.press("n", "y")
        await pilot.pause()
        assert session.game.board != board
        await pilot.press("g", "enter")
        await pilot.pause()
        assert session.game.board == board
    session.close()


async def test_play_goes_on_after_the_target() -> None:
    """Reaching 2048 is celebrated, and the next move simply goes on."""
    session = table(NEARLY_WON)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert "You made 2048!" in shown(app)
        await pilot.press("down")
        assert session.game.ply == 2
        assert "You made 2048!" not in shown(app)


async def test_the_end_has_a_panel_and_can_be_undone() -> None:
    """A stuck game shows its score and what can be done; undo brings the game back."""
    session = table(NEARLY_OVER)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("right")
        over = session.game.is_over
        assert over == ("Game over" in shown(app))
        while not session.game.is_over:
            await pilot.press("left", "right", "up", "down")
        assert "Game over" in shown(app)
        assert f"{session.game.score:,}" in shown(app)
        await pilot.press("left")
        assert app.table.note.startswith("The game is over")
        await pilot.press("u")
        assert "Game over" not in shown(app)
        assert not session.game.is_over


async def test_a_finished_game_is_shown_as_finished() -> None:
    """An application that opens on a game that is over says so."""
    session = table("2 4 2\n4 2 4", "classic:size=2x3")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "Game over" in app.table.note
        await pilot.press("n")
        assert not session.game.is_over


async def test_rules_that_end_at_the_target_end_in_triumph() -> None:
    """Under comp1127 the target ends the game: the panel says that it is won."""
    app = GameApp(table(NEARLY_WON, "comp1127"), reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert "You win!" in shown(app)


async def test_a_penalty_is_shown() -> None:
    """Under cits1401 an illegal move costs a point, which the screen says."""
    session = table(". . . . .\n2 . . . .\n. . . . .\n. . . . .\n. . . . .", "cits1401")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert session.game.score == -1
        assert app.table.note == "Left: nothing moves, minus 1. Score -1."
        assert "-1" in shown(app)


async def test_themes_switch_live_and_are_remembered() -> None:
    """T goes through all themes at once, board and page, and the last one stays."""
    session = open_session()
    session.start(seed=SEED, board=Board.parse("2 . . .\n. . . .\n. . . .\n. . . 8"))
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        for theme in (*THEMES[1:], THEMES[0], THEMES[1]):
            wanted = {theme.page, theme.tile(2).background, theme.empty}
            await pilot.press("t")
            assert app.theme == theme.name
            await until(pilot, lambda wanted=wanted: wanted <= colours(app))
    session.close()
    again = open_session()
    assert GameApp(again).theme == THEMES[1].name
    again.close()


def colours(app: GameApp) -> set[str]:
    """All colours behind the text on the screen."""
    strips = app.screen._compositor.render_strips()
    return {s.style.bgcolor.name for line in strips for s in line if s.style and s.style.bgcolor}


def test_an_unknown_theme_is_refused() -> None:
    """A theme that does not exist is refused before the screen opens."""
    with pytest.raises(ThemeError, match="did you mean 'light'"):
        GameApp(table(), theme="ligth")


@pytest.mark.parametrize(
    ("size", "rules", "arrangement"),
    [
        ((80, 24), "classic", Arrangement.WIDE),
        ((40, 24), "classic", Arrangement.TALL),
        ((20, 10), "classic", Arrangement.COMPACT),
        ((20, 10), "8x8", Arrangement.COMPACT),
        ((200, 60), "8x8", Arrangement.WIDE),
    ],
)
async def test_every_size_shows_board_and_score(
    size: tuple[int, int], rules: str, arrangement: Arrangement
) -> None:
    """From 20x10 to a large screen the board, the score and messages are there."""
    session = table(rules=rules)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=size) as pilot:
        await pilot.press("left")
        assert app.table.arrangement is arrangement
        region = app.table.board.region
        assert app.table.grid is not None
        assert region.size == (app.table.grid.width_columns, app.table.grid.height_rows)
        assert app.screen.region.contains_region(region)
        assert str(session.game.score) in shown(app)


async def test_a_tiny_terminal_says_so_and_recovers() -> None:
    """Where not even a character per cell fits, one line says so; enlarging brings the game."""
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test(size=(6, 3)) as pilot:
        assert shown(app).split() == ["Too", "small"]
        assert app.table.arrangement is Arrangement.NONE
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.table.arrangement is Arrangement.WIDE
        assert "SCORE" in shown(app)


MIDDLE = (20, 10)
ONE_TILE = Board.parse(". . . .\n. 2 . .\n. . . .\n. . . .")


async def test_clicks_near_a_side_move_there() -> None:
    """A click near a side of the board slides towards it; one in the middle does nothing."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.click(app.table.board, offset=MIDDLE)
        assert session.game.ply == 0
        for offset, side in (
            ((2, 10), "left"),
            ((39, 10), "right"),
            ((20, 1), "up"),
            ((20, 19), "down"),
        ):
            session.start(board=ONE_TILE)
            await pilot.click(app.table.board, offset=offset)
            await pilot.pause()
            assert str(session.game.turns[0].direction) == side


async def test_swipes_move_along() -> None:
    """Dragging over the board slides in the direction of the drag."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        for end, way in (
            ((8, 10), "left"),
            ((32, 11), "right"),
            ((22, 4), "up"),
            ((19, 16), "down"),
        ):
            session.start(board=ONE_TILE)
            await pilot.mouse_down(app.table.board, offset=MIDDLE)
            await pilot.mouse_up(app.table.board, offset=end)
            await pilot.pause()
            assert str(session.game.turns[0].direction) == way


async def test_keys_in_the_list_can_be_clicked() -> None:
    """The words in the key list do what their keys do."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up")
        ply = session.game.ply
        await pilot.click("#keys", offset=(3, 0))
        await pilot.pause()
        assert session.game.ply == ply - 1


async def test_a_hint_names_the_direction_and_every_value() -> None:
    """? asks the player in the background and shows its choice with the worth of each move."""
    session = table("2 2 4 8\n. . . .\n. . . .\n. . . .")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "greedy")
        await pilot.press("question_mark")
        await until(pilot, lambda: app.table.note.startswith("Hint:"))
        assert app.table.note.splitlines()[0] in ("Hint: left", "Hint: right")
        for arrow in "←→↓":
            assert arrow in app.table.note
        assert session.game.ply == 0


class SlowPlayer:
    """Answers only when the test lets it."""

    name = "slow"

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.asked = threading.Event()

    def choose(self, game: Game) -> Direction:
        self.asked.set()
        assert self.may_answer.wait(10)
        return game.legal_directions()[0]

    def rate(self, game: Game) -> dict[Direction, float]:
        return dict.fromkeys(game.legal_directions(), 1.0)


async def test_a_slow_player_never_blocks_and_its_old_answers_are_dropped() -> None:
    """While a player thinks, moves go on; its answer about an older position is not shown."""
    session, player = table(), SlowPlayer()
    session._advisers["slow"] = player
    session.set_setting("player", "slow")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        await until(pilot, player.asked.is_set)
        await pilot.press("left", "up")
        assert session.game.ply == 2
        player.may_answer.set()
        await pilot.pause(0.1)
        assert not app.table.note.startswith("Hint")


async def test_autoplay_plays_stops_and_changes_speed() -> None:
    """Space lets the player play; + and - change the speed; a move of one's own stops it."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "corner")
        await pilot.press("plus", "plus", "plus")
        assert app.autoplay.speed == 32
        await pilot.press("space")
        assert "corner 32/s" in shown(app)
        await until(pilot, lambda: session.game.ply >= 5)
        await pilot.press("minus")
        assert "corner 16/s" in shown(app)
        await pilot.press("left")
        assert not app.autoplay.is_on
        ply = session.game.ply
        await pilot.pause(0.2)
        assert session.game.ply == ply


async def test_autoplay_ends_with_the_game() -> None:
    """At full speed a player plays to the end, where autoplay stops by itself."""
    session = table(rules="2x4")
    session.set_setting("autoplay_speed", 1000)
    app = GameApp(session, player="random:seed=3")
    async with app.run_test() as pilot:
        assert app.autoplay.is_on
        await until(pilot, lambda: session.game.is_over)
        await pilot.pause()
        assert not app.autoplay.is_on
        assert "Game over" in app.table.note
        await pilot.press("space")
        assert not app.autoplay.is_on


async def test_a_broken_player_is_reported() -> None:
    """A player that fails ends autoplay with its own words, and the game stays."""

    class Broken(SlowPlayer):
        def choose(self, game: Game) -> Direction:
            raise RuntimeError("the wheels came off")

    session = table()
    session._advisers["slow"] = Broken()
    app = GameApp(session, player="slow", reduced_motion=True)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: "the wheels came off" in shown(app))
        assert not app.autoplay.is_on
        assert session.game.ply == 0


async def test_the_player_menu_chooses_and_remembers() -> None:
    """P lists the players; the chosen one gives the hints from then on."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("p", "tab")
        app.screen.query_one(Input).value = "gredy"
        await pilot.press("enter")
        assert "did you mean 'greedy'" in str(app.screen.query_one(".trouble", Static).render())
        app.screen.query_one(Input).value = "greedy"
        await pilot.press("enter")
        await pilot.pause()
        assert app.player == session.get_setting("player") == "greedy"


async def test_help_names_every_key() -> None:
    """F1 shows all keys with what they do, and Escape closes it."""
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test(size=(90, 40)) as pilot:
        await pilot.press("f1")
        assert isinstance(app.screen, Help)
        picture = shown(app)
        for command in (*MOVES, *COMMANDS):
            assert command.help in picture
        await pilot.press("escape")
        assert not isinstance(app.screen, Help)


async def test_records_are_saved_and_opened(tmp_path: Path) -> None:
    """ctrl+s writes a record that ctrl+o goes on from; a bad path is explained."""
    path, session = tmp_path / "game.2048.json", table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(notifications=True, size=(100, 30)) as pilot:
        await pilot.press("left", "up", "ctrl+s")
        assert isinstance(app.screen, Prompt)
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert path.exists()
        board = session.game.board
        await pilot.press("n", "y", "ctrl+o")
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert session.game.board == board
        await pilot.press("ctrl+o")
        app.screen.query_one(Input).value = str(tmp_path / "none")
        await pilot.press("enter", "y")
        await until(pilot, lambda: "none" in shown(app))
        assert session.game.board == board


async def test_trouble_with_the_store_is_shown() -> None:
    """A failing store is announced and the game goes on."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(notifications=True) as pilot:
        session._emit(StorageTrouble("the disk is full: free some space"))
        await until(pilot, lambda: "the disk is full" in shown(app))
        await pilot.press("left")
        assert session.game.ply == 1


@pytest.mark.parametrize("key", ["q", "Q", "ctrl+c", "ctrl+q"])
async def test_quitting_needs_one_key(key: str) -> None:
    """Q and ctrl+c leave at once; the game is kept anyway."""
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running
