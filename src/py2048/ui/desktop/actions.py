"""Every action of the desktop game in one table that the keys, the menus and the help read.

The keys are those of the terminal; a test compares the two tables.
"""

from __future__ import annotations

import sys
from typing import NamedTuple


class Action(NamedTuple):
    """Something a player can do.

    Attributes:
        name: the method of the application that does it, after ``do_``.
        menu: the menu it stands in.
        title: its line there.
        keys: the keys in Tk's names; ``Control-`` before a key held with Control.
        shown: the keys as people call them.
        help: a sentence for the help.
    """

    name: str
    menu: str
    title: str
    keys: tuple[str, ...] = ()
    shown: str = ""
    help: str = ""


def _action(name: str, menu: str, title: str, keys: str, shown: str, help_: str) -> Action:
    return Action(name, menu, title, tuple(keys.split()), shown, help_)


GAME, MOVE, PLAYER, VIEW, HELP = "Game", "Move", "Player", "View", "Help"
MENUS = (GAME, MOVE, PLAYER, VIEW, HELP)

ACTIONS = (
    _action("new", GAME, "New game", "n N Control-n", "N", "Start a new game; asks if one is on"),
    _action("seed", GAME, "New game from a seed …", "", "", "The same seed, the same tiles"),
    _action("rules", GAME, "Rules and size …", "m M", "M", "Choose the rules, or make your own"),
    _action("games", GAME, "Games in progress …", "g G", "G", "Take up another game in progress"),
    _action("edit", GAME, "Set up a board …", "e E", "E", "Put tiles where you like, then play"),
    _action(
        "open", GAME, "Open a record …", "Control-o", "Ctrl+O", "Go on from a record in a file"
    ),
    _action("save", GAME, "Save as a record …", "Control-s", "Ctrl+S", "Write this game to a file"),
    _action("replay", GAME, "Watch a record …", "v V", "V", "Walk through a game, move by move"),
    _action("picture", GAME, "Export as a picture …", "Control-e", "Ctrl+E", "Write a PNG file"),
    _action("film", GAME, "Export as an animation …", "", "", "Write the game as an animated GIF"),
    _action("copy", GAME, "Copy the board", "Control-c", "Ctrl+C", "Copy the board as text"),
    _action("paste", GAME, "Paste a board", "Control-v", "Ctrl+V", "Play on from a copied board"),
    _action("statistics", GAME, "Statistics", "i I", "I", "Your games, best scores and plots"),
    _action("quit", GAME, "Quit", "q Q Control-q", "Q", "Close the window; the game is kept"),
    _action("up", MOVE, "Up", "Up KP_Up w W k K", "↑ W K", "Slide up"),
    _action("down", MOVE, "Down", "Down KP_Down s S j J", "↓ S J", "Slide down"),
    _action("left", MOVE, "Left", "Left KP_Left a A h", "← A H", "Slide left"),
    _action("right", MOVE, "Right", "Right KP_Right d D l L", "→ D L", "Slide right"),
    _action("undo", MOVE, "Undo", "u U BackSpace Control-z", "U", "Take the last move back"),
    _action("redo", MOVE, "Redo", "r R Control-y", "R", "Play a move again that was taken back"),
    _action("hint", PLAYER, "Hint", "question", "?", "Show the best move and what each is worth"),
    _action("autoplay", PLAYER, "Play by itself", "space", "Space", "Let the player play; or stop"),
    _action("faster", PLAYER, "Faster", "plus equal KP_Add", "+", "Let it play faster"),
    _action("slower", PLAYER, "Slower", "minus KP_Subtract", "-", "Let it play slower"),
    _action("player", PLAYER, "Choose the player …", "p P", "P", "Who gives hints and plays"),
    _action("theme", VIEW, "Next theme", "t T", "T", "Change the colours"),
    _action("animation", VIEW, "Animation", "x X", "X", "Switch the animation off or on"),
    _action("full_screen", VIEW, "Full screen", "F11", "F11", "Fill the screen, or not"),
    _action("help", HELP, "Keys and mouse", "F1 H", "F1", "Show this help"),
    _action("about", HELP, "About py2048", "", "", "What this is"),
)

BY_NAME = {action.name: action for action in ACTIONS}
_BY_KEY = {key: action for action in ACTIONS for key in action.keys}

# Tk numbers the modifiers by system: 8 is Alt under X, Command on a Mac, Num Lock on Windows.
CONTROL = 0x8 if sys.platform == "darwin" else 0x4
ALT = {"win32": 0x20000, "darwin": 0x10}.get(sys.platform, 0x8)

# Keyboards with other letters: where the keys lie, by X11's key codes.
_X11_ROWS = {24: "qwertyuiop", 38: "asdfghjkl", 52: "zxcvbnm"}
_X11_LETTERS = {
    first + place: letter for first, row in _X11_ROWS.items() for place, letter in enumerate(row)
}


def action_of(keysym: str, state: int = 0, keycode: int = 0, char: str = "") -> Action | None:
    """Return the action of a key press, if any.

    On a keyboard that writes other letters than Latin ones a key counts as the Latin letter in
    its place.

    Args:
        keysym: Tk's name of the key.
        state: Tk's mask of the modifiers held.
        keycode: the system's number of the key.
        char: what the key writes.
    """
    if state & ALT:
        return None
    if char.isalpha() and not char.isascii():
        keysym = _latin_letter(keycode) or keysym
    if state & CONTROL:
        return _BY_KEY.get(f"Control-{keysym.lower() if len(keysym) == 1 else keysym}")
    return _BY_KEY.get(keysym)


def _latin_letter(keycode: int) -> str:
    """Return the letter that an American keyboard has at this key; empty for other keys."""
    if sys.platform == "win32":  # its key codes are the codes of those letters
        return chr(keycode).lower() if ord("A") <= keycode <= ord("Z") else ""
    return _X11_LETTERS.get(keycode, "")
