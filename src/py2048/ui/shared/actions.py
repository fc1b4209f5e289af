"""The table of actions: what a player can do, by which keys, and what help and menus say of it.

The terminal's bindings and help, the window's keys, menus and help are all made from this table.
"""

from __future__ import annotations

from typing import NamedTuple

GAME, MOVE, PLAYER, VIEW, HELP = "Game", "Move", "Player", "View", "Help"
MENUS = (GAME, MOVE, PLAYER, VIEW, HELP)


class UserAction(NamedTuple):
    """Something a player can do.

    Attributes:
        name: what programs call it; each front end maps it to a method.
        menu: the menu that it stands in.
        title: its line there.
        keys: its keys on every front end, in Textual's names.
        window_keys: further keys in a window, in Tk's names.
        shown: the keys as people call them.
        label: a word for a list of keys; empty if only windows have the action.
        help: a sentence for the help.
    """

    name: str
    menu: str
    title: str
    keys: tuple[str, ...]
    window_keys: tuple[str, ...]
    shown: str
    label: str
    help: str


def _action(
    name: str,
    menu: str,
    title: str,
    keys: str,
    window_keys: str,
    shown: str,
    label: str,
    help_: str,
) -> UserAction:
    return UserAction(
        name, menu, title, tuple(keys.split()), tuple(window_keys.split()), shown, label, help_
    )


ACTIONS = (
    _action("new", GAME, "New game", "n N", "Control-n", "N", "new",
            "Start a new game; asks if one is in progress"),
    _action("seed", GAME, "New game from a seed …", "", "", "", "",
            "The same seed gives the same tiles"),
    _action("rules", GAME, "Rules and size …", "m M", "", "M", "rules",
            "Choose the rules and the size of the board"),
    _action("games", GAME, "Games in progress …", "g G", "", "G", "games",
            "Resume another game in progress"),
    _action("edit", GAME, "Set up a board …", "", "e E", "E", "",
            "Put tiles where you like, then play"),
    _action("open", GAME, "Open a record …", "ctrl+o", "", "Ctrl+O", "open",
            "Continue a recorded game from a file"),
    _action("save", GAME, "Save as a record …", "ctrl+s", "", "Ctrl+S", "save",
            "Save this game as a record in a file"),
    _action("replay", GAME, "Watch a record …", "", "v V", "V", "",
            "Watch a recorded game, move by move"),
    _action("picture", GAME, "Export as a picture …", "", "Control-e", "Ctrl+E", "",
            "Write the board as a PNG file"),
    _action("animated_gif", GAME, "Export as an animation …", "", "", "", "",
            "Write the game as an animated GIF"),
    _action("copy", GAME, "Copy the board", "", "Control-c", "Ctrl+C", "",
            "Copy the board as text"),
    _action("paste", GAME, "Paste a board", "", "Control-v", "Ctrl+V", "",
            "Play from a copied board"),
    _action("statistics", GAME, "Statistics", "", "i I", "I", "",
            "Your games, best scores and plots"),
    _action("quit", GAME, "Quit", "q Q ctrl+q", "", "Q", "quit", "Quit; the game is kept"),
    _action("up", MOVE, "Up", "up w W k K", "KP_Up", "↑ W K", "up", "Slide up"),
    _action("down", MOVE, "Down", "down s S j J", "KP_Down", "↓ S J", "down", "Slide down"),
    _action("left", MOVE, "Left", "left a A h", "KP_Left", "← A H", "left", "Slide left"),
    _action("right", MOVE, "Right", "right d D l L", "KP_Right", "→ D L", "right", "Slide right"),
    _action("undo", MOVE, "Undo", "u U backspace", "Control-z", "U", "undo",
            "Take the last move back, as often as you like"),
    _action("redo", MOVE, "Redo", "r R", "Control-y", "R", "redo",
            "Play again a move that was taken back"),
    _action("hint", PLAYER, "Hint", "question_mark", "", "?", "hint",
            "Show the best move and what each is worth"),
    _action("autoplay", PLAYER, "Play by itself", "space", "", "Space", "autoplay",
            "Let the player play; any move stops it"),
    _action("faster", PLAYER, "Faster", "plus equals_sign", "KP_Add", "+", "faster",
            "Autoplay faster"),
    _action("slower", PLAYER, "Slower", "minus", "KP_Subtract", "-", "slower",
            "Autoplay slower"),
    _action("player", PLAYER, "Choose the player …", "p P", "", "P", "player",
            "Choose who gives hints and plays by itself"),
    _action("theme", VIEW, "Next theme", "t T", "", "T", "theme", "Change the colours"),
    _action("animation", VIEW, "Animation", "x X", "", "X", "motion",
            "Switch the animation off or on"),
    _action("full_screen", VIEW, "Full screen", "", "F11", "F11", "", "Fill the screen, or not"),
    _action("help", HELP, "Keys and mouse", "f1 H", "", "F1", "help", "Show this help"),
    _action("about", HELP, "About py2048", "", "", "", "", "The version of this program"),
)  # fmt: skip

BY_NAME = {action.name: action for action in ACTIONS}
