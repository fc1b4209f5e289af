"""Tables of actions, with their names, keys, menu items and help.

The terminal and the window build their key bindings, menus and help from these tables.
"""

from __future__ import annotations

from typing import NamedTuple

from py2048.core.direction import Direction
from py2048.core.language import N_

MENUS = ("Game", "Learn", "File")


class UserAction(NamedTuple):
    """A player's action, with texts that are translated when they are displayed.

    Attributes:
        name: Identifier, which each front end maps to a method.
        menu: Name of the menu that contains the action.
        title: Menu item.
        keys: Keys that work in both the window and the terminal, by their Textual names.
        window_keys: Additional keys that work only in the window, by their Tk names.
        shown: The keys as displayed to the player.
        label: Short label for key lists, or empty if only the window has the action.
        help: Help text.
    """

    name: str
    menu: str
    title: str
    keys: tuple[str, ...]
    window_keys: tuple[str, ...]
    shown: str
    label: str
    help: str


# The columns are name, title, keys, window_keys, shown, label and help. Rows are grouped by menu.
_TABLE = """\
[Game]
new | New game | n N | Control-n | N | new | Start a new game; asks if one is in progress
seed | New game from a seed … |  |  |  |  | The same seed gives the same tiles
rules | Rules and size … | m M |  | M | rules | Choose the rules and the size of the board
games | Games in progress … | g G |  | G | games | Resume another game in progress
edit | Set up a board … |  | e E | E |  | Put tiles where you like, then play
up | Up | up w W k K | KP_Up | ↑ W K | up | Slide up
down | Down | down s S j J | KP_Down | ↓ S J | down | Slide down
left | Left | left a A h H | KP_Left | ← A H | left | Slide left
right | Right | right d D l L | KP_Right | → D L | right | Slide right
undo | Undo | u U backspace | Control-z | U | undo | Undo the last move, as often as you like
redo | Redo | r R | Control-y | R | redo | Redo an undone move
language | Language … |  |  |  |  | Choose the language of all texts
theme | Next theme | t T |  | T | theme | Change the colours
animation | Animation | x X |  | X | motion | Turn animation off or on
full_screen | Full screen |  | F11 | F11 |  | Switch to full screen and back
quit | Quit | q Q ctrl+q |  | Q | quit | Quit; the game is saved
[Learn]
hint | Hint | question_mark |  | ? | hint | Show the best move and how the others compare
autoplay | Watch it play | space |  | Space | watch | Let the computer play; any move stops it
faster | Faster | plus equals_sign | KP_Add | + | faster | Let it play faster
slower | Slower | minus | KP_Subtract | - | slower | Let it play slower
player | Computer player … | p P |  | P | player | Choose who gives hints and plays: strong, fast …
level | Level … | o O |  | O | level | Choose for whom moves are judged: you, beginner … perfect
milestones | Milestones | f2 |  | F2 | milestones | Show your times to 512, 1024 … beside your best
coach | Coach | c C |  | C | coach | Judge each move as you play: counts as assisted
share | Share | y Y |  | Y | share | Copy the result, or the board, as text
review | Review a game … | b B |  | B | review | See what each move was worth, and the mistakes
practice | Practise … | f F |  | F | practise | Practise your mistakes, endings and puzzles
statistics | Statistics |  | i I | I |  | Your games, best scores and plots
help | Keys and mouse | f1 slash |  | F1 | help | Show this help, as / does
about | About py2048 |  |  |  |  | The version of this program
[File]
open | Open a record … | ctrl+o |  | Ctrl+O | open | Continue a recorded game from a file
save | Save as a record … | ctrl+s |  | Ctrl+S | save | Save this game as a record in a file
replay | Watch a record … |  | v V | V |  | Watch a recorded game, move by move
picture | Export as a picture … |  | Control-e | Ctrl+E |  | Write the board as a PNG file
animated_gif | Export as an animation … |  |  |  |  | Write the game as an animated GIF
copy | Copy the board |  | Control-c | Ctrl+C |  | Copy the board as text
paste | Paste a board or game |  | Control-v | Ctrl+V |  | Play a copied board, watch a copied game
"""

_REVIEW_TABLE = """\
[Review]
back | Back | left a A h H |  | ← | back | The previous move
forward | Forward | right d D l L |  | → | forward | The next move
previous_mistake | Previous mistake | up w W k K p P |  | ↑ P | before | The previous mistake
next_mistake | Next mistake | down j J n N |  | ↓ N | mistake | The next mistake
retry | Try it again | t T |  | T | try again | Look for the better move yourself
show_me | Show me | s S |  | S | show me | Watch typical moves after the better move and after yours
page_back | Ten back | pageup |  | PgUp |  | Ten moves back
page_forward | Ten forward | pagedown |  | PgDn |  | Ten moves forward
first | First move | home |  | Home |  | The first move
last | Last move | end |  | End |  | The last move
level | Level … | o O |  | O | level | Choose for whom the moves are judged
practice | Practise | f F |  | F | practise | Practise your habits
play_on | Play on from here | enter |  | Enter | play on | Start a game from this position
close | Close | escape q Q ctrl+q |  | Q | close | Close the review
"""

_PRACTICE_TABLE = """\
[Practice]
up | Up | up w W k K |  | ↑ W K | up | Slide up
down | Down | down s S j J |  | ↓ S J | down | Slide down
left | Left | left a A h H |  | ← A H | left | Slide left
right | Right | right d D l L |  | → D L | right | Slide right
next | Next | enter space |  | Enter | next | The next position
close | Close | escape q Q ctrl+q |  | Q | close | Close; every answer is saved
"""


def _actions(table: str) -> list[UserAction]:
    actions: list[UserAction] = []
    menu = ""
    for line in table.splitlines():
        if line.startswith("["):
            menu = line.strip("[]")
            continue
        name, title, keys, window_keys, *texts = map(str.strip, line.split("|"))
        actions.append(
            UserAction(name, menu, title, tuple(keys.split()), tuple(window_keys.split()), *texts)
        )
    return actions


ACTIONS = _actions(_TABLE)
REVIEW_ACTIONS = _actions(_REVIEW_TABLE)
"""Actions in a review."""

PRACTICE_ACTIONS = _actions(_PRACTICE_TABLE)
"""Actions during practice."""

HELP_SECTIONS = (
    ("", ACTIONS),
    (N_("In a review"), REVIEW_ACTIONS),
    (N_("While practising"), PRACTICE_ACTIONS),
)
"""The sections of the help, each with a translatable title and its actions."""

BY_NAME = {action.name: action for action in ACTIONS}

_WASD = dict(zip("wsad", Direction, strict=True))


def direction_of_word(word: str) -> Direction:
    """Parse a typed direction: one of the letters WASD, or a word that `Direction.parse` accepts.

    As on all screens, ``w`` means up and ``d`` means right, not west and down.

    Raises:
        DirectionError: If the word is not a direction.
    """
    return _WASD.get(word.lower()) or Direction.parse(word)
