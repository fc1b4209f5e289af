"""Every key of the terminal, in one table that the bindings, the key list and the help read."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Command(NamedTuple):
    """What a key does.

    Attributes:
        keys: the keys' names in Textual, separated by commas.
        action: the action of the application.
        shown: the keys as people call them.
        label: a word for the key list.
        help: a sentence for the help screen.
    """

    keys: str
    action: str
    shown: str
    label: str
    help: str


MOVES = (
    Command("up,w,W,k,K", "move('up')", "↑ w k", "up", "Slide up"),
    Command("down,s,S,j,J", "move('down')", "↓ s j", "down", "Slide down"),
    Command("left,a,A,h", "move('left')", "← a h", "left", "Slide left"),
    Command("right,d,D,l,L", "move('right')", "→ d l", "right", "Slide right"),
)

COMMANDS = (
    Command("u,U,backspace", "undo", "u", "undo", "Take the last move back, as often as you like"),
    Command("r,R", "redo", "r", "redo", "Play a move again that was taken back"),
    Command("n,N", "new", "n", "new", "Start a new game; asks if one is in progress"),
    Command("m,M", "rules", "m", "rules", "Choose the rules and the size of the board"),
    Command("question_mark", "hint", "?", "hint", "Ask for the best move and what each is worth"),
    Command("p,P", "player", "p", "player", "Choose who gives hints and plays by itself"),
    Command("space", "autoplay", "space", "autoplay", "Let the player play; any move stops it"),
    Command("plus,equals_sign", "faster", "+", "faster", "Autoplay faster"),
    Command("minus", "slower", "-", "slower", "Autoplay slower"),
    Command("t,T", "theme", "t", "theme", "Next theme"),
    Command("x,X", "animation", "x", "motion", "Switch the animation off or on"),
    Command("g,G", "games", "g", "games", "Take up another game in progress"),
    Command("ctrl+s", "save", "ctrl+s", "save", "Save this game as a record in a file"),
    Command("ctrl+o", "open", "ctrl+o", "open", "Go on from a record in a file"),
    Command("f1,H", "help", "F1 or H", "help", "Show this help"),
    Command("q,Q,ctrl+c,ctrl+q", "quit", "q", "quit", "Quit; the game is kept"),
)

BINDINGS = [
    Binding(command.keys, command.action, command.help, show=False)
    for command in (*MOVES, *COMMANDS)
]

_LISTED = (
    ("undo", "redo"),
    ("new", "rules"),
    ("hint", "player"),
    ("autoplay", "faster"),
    ("theme", "games"),
    ("help", "quit"),
)
_RANKED = ("undo", "new", "hint", "help", "quit", "autoplay", "rules", "theme", "redo", "player")
_SHORT_KEYS = {"autoplay": "␣", "help": "F1"}
_BY_ACTION = {command.action: command for command in COMMANDS}


def key_list() -> str:
    """Return the most useful keys as Textual markup, two to a line; each can be clicked."""
    return "\n".join(_entry(left, 15) + _entry(right, 10) for left, right in _LISTED)


def key_bar(width: int) -> str:
    """Return the most useful keys as Textual markup in a line of at most `width` columns."""
    entries: list[str] = []
    for action in _RANKED:
        width -= len(_key(action)) + len(_BY_ACTION[action].label) + 2
        if width < -1:
            break
        entries.append(_entry(action, 0))
    return " ".join(entries)


def _key(action: str) -> str:
    return _SHORT_KEYS.get(action, _BY_ACTION[action].shown)


def _entry(action: str, width: int) -> str:
    command, key = _BY_ACTION[action], _key(action)
    padding = " " * (width - len(key) - 1 - len(command.label))
    link = f"[@click=app.{action}]{command.label}[/]"
    return f"[bold $accent]{key}[/] {link}{padding}"
