"""A board as a picture, a game as an animated GIF. Knows no Tk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image

from py2048.board import Board
from py2048.game import Record
from py2048.ui.desktop import pictures
from py2048.ui.desktop.geometry import Grid
from py2048.ui.shared.themes import Theme

PICTURE_SIDE, FILM_SIDE = 720, 320
"""The longer side of a board in pixels."""

MOST_FRAMES = 1500
"""A longer game is shown in larger steps, so that its film stays a few megabytes."""

FRAME_MILLIS, LAST_MILLIS = 120, 2500


def poster(
    board: Board, score: int, grid: Grid, theme: Theme, ground: Image.Image | None = None
) -> Image.Image:
    """Return a board under its score."""
    position = pictures.board(board, grid, theme, ground)
    head = max(28, grid.height // 10)
    image = Image.new("RGB", (grid.width, grid.height + head), theme.page)
    image.paste(position, (0, head))
    size = min(head * 0.6, grid.width / 8)
    pictures.write(image, (grid.width / 2, head / 2), f"{score:,}", theme.ink, round(size))
    return image


def save_picture(path: Path, board: Board, score: int, theme: Theme) -> None:
    """Write a board as a PNG file.

    Raises:
        OSError: if the file cannot be written.
    """
    grid = Grid.fit(board.shape, PICTURE_SIDE, PICTURE_SIDE)
    poster(board, score, grid, theme).save(path, "PNG", optimize=True)


def save_film(
    path: Path, record: Record, theme: Theme, report: Callable[[int], object] = lambda _: None
) -> None:
    """Write a game as an animated GIF: a frame for each turn, the last one shown longer.

    Args:
        path: the file.
        record: the game.
        theme: its colours.
        report: called with the number of frames that are drawn.

    Raises:
        OSError: if the file cannot be written.
        RecordError: if the record breaks its rules.
    """
    grid = Grid.fit(record.rules.shape, FILM_SIDE, FILM_SIDE)
    positions = [(record.start, 0)]
    positions += [(board, score) for board, _, score in record.replay()]
    step = -(-len(positions) // MOST_FRAMES)
    shown = [*positions[:-1:step], positions[-1]]
    ground = pictures.ground(grid, theme)
    palette = _palette(grid, theme, ground)

    def frames() -> Iterator[Image.Image]:
        for number, (board, score) in enumerate(shown, start=1):
            frame = poster(board, score, grid, theme, ground)
            yield frame.quantize(palette=palette, dither=Image.Dither.NONE)
            report(number)

    drawn = frames()
    durations = [FRAME_MILLIS] * (len(shown) - 1) + [LAST_MILLIS]
    next(drawn).save(
        path,
        "GIF",
        save_all=True,
        append_images=drawn,
        duration=durations,
        loop=0,
        optimize=False,
    )


def _palette(grid: Grid, theme: Theme, ground: Image.Image) -> Image.Image:
    """Return an image with a palette for all frames: the colours of every tile."""
    sample = Image.new("RGB", (grid.cell * 6, grid.cell * 4), theme.page)
    for index in range(20):
        face = pictures.tile(2 << index, grid.cell, theme, grid.radius)
        sample.paste(face, (index % 6 * grid.cell, index // 6 * grid.cell), face)
    sample.paste(ground.resize((grid.cell * 2, grid.cell)), (grid.cell * 2, grid.cell * 3))
    pictures.write(sample, (grid.cell * 5, grid.cell * 3.5), "0", theme.ink, grid.cell)
    return sample.quantize(colors=128, method=Image.Quantize.MEDIANCUT)


class Filming(threading.Thread):
    """Writes a film in a thread of its own, so that the window goes on.

    Args:
        path: the file; it is there, complete, when the film has ended well.
        record: the game.
        theme: its colours.
    """

    def __init__(self, path: Path, record: Record, theme: Theme) -> None:
        super().__init__(name="filming", daemon=True)
        self.path = path
        self._record = record
        self._theme = theme
        self._frames = 0
        self.error: OSError | None = None

    def run(self) -> None:
        """Write the film; a fault leaves no file behind."""
        unfinished = self.path.with_name(self.path.name + ".part")
        try:
            save_film(unfinished, self._record, self._theme, self._count)
            unfinished.replace(self.path)
        except OSError as error:
            self.error = error
            unfinished.unlink(missing_ok=True)

    def _count(self, frames: int) -> None:
        self._frames = frames

    def progress(self) -> str:
        """Return how far the film is, or an empty text when it has ended."""
        return f"Drawing frame {self._frames} …" if self.is_alive() else ""
