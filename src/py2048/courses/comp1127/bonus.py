"""An answer to the document's Challenge: a tile merges at most once in a move.

The document's algorithm lets a tile that has just merged merge again, so that ``2 2 4 8``
becomes a single 16. Here it becomes ``4 4 8``, as in the game that most people know. Run it
with ``python -m py2048.courses.comp1127.bonus``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from py2048.courses.comp1127 import gui, main

if TYPE_CHECKING:
    from py2048.courses.comp1127.main import Cell, Event
    from py2048.courses.comp1127.window import BoardFrame

_document_update_grid = main.update_grid
_document_move_all = main.move_all

# Slots whose number was made by a merge during this move. A merged tile stays where it is
# until the move has ended, so its slot is as good a name for it as its key.
merged_slots: set[Cell] = set()


def update_grid(row: int, column: int, direction: int) -> Cell:
    """Move one value a single step, but never onto a number made during this move."""
    down, right = main.steps.get(direction, (0, 0))
    target = (row + down, column + right)
    if target in merged_slots:
        return row, column
    numbers = 16 - len(main.empty_slots())
    place = _document_update_grid(row, column, direction)
    if 16 - len(main.empty_slots()) < numbers:
        merged_slots.add(place)
    return place


def move_all(board: BoardFrame, event: Event) -> None:
    """Move every tile, none of them merged yet."""
    merged_slots.clear()
    _document_move_all(board, event)


def install() -> None:
    """Let the document's program play by these rules."""
    main.update_grid = update_grid
    main.move_all = move_all


def remove() -> None:
    """Let the document's program play by its own rules again."""
    main.update_grid = _document_update_grid
    main.move_all = _document_move_all


if __name__ == "__main__":
    install()
    frame, board = gui.setup()
    main.add_random_number(board)
    main.add_random_number(board)
    main.bind(frame, board)
    gui.start(frame)
