"""A game as an animated GIF."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image

from py2048.game import Record
from py2048.ui.desktop import board_image
from py2048.ui.desktop.board_image import BoardGrid
from py2048.ui.shared.themes import Theme

GIF_SIDE = 320
"""The longer side of a board in pixels."""

MOST_FRAMES = 1500
"""A longer game is shown in larger steps, so that its file stays at a few megabytes."""

FRAME_MS, LAST_MS = 120, 2500


def save_gif(
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
    grid = BoardGrid.fit(record.rules.shape, GIF_SIDE, GIF_SIDE)
    positions = [(record.start, 0)]
    positions += [(board, score) for board, _, score in record.replay()]
    step = -(-len(positions) // MOST_FRAMES)
    shown = [*positions[:-1:step], positions[-1]]
    ground = board_image.ground(grid, theme)
    palette = _palette(grid, theme, ground)

    def frames() -> Iterator[Image.Image]:
        for number, (board, score) in enumerate(shown, start=1):
            frame = board_image.scored_board(board, score, grid, theme, ground)
            yield frame.quantize(palette=palette, dither=Image.Dither.NONE)
            report(number)

    drawn = frames()
    durations = [FRAME_MS] * (len(shown) - 1) + [LAST_MS]
    next(drawn).save(
        path,
        "GIF",
        save_all=True,
        append_images=drawn,
        duration=durations,
        loop=0,
        optimize=False,
    )


def _palette(grid: BoardGrid, theme: Theme, ground: Image.Image) -> Image.Image:
    """Return an image with a palette for all frames: the colours of every tile."""
    sample = Image.new("RGB", (grid.cell * 6, grid.cell * 4), theme.page)
    for index in range(20):
        face = board_image.tile(2 << index, grid.cell, theme, grid.radius)
        sample.paste(face, (index % 6 * grid.cell, index // 6 * grid.cell), face)
    sample.paste(ground.resize((grid.cell * 2, grid.cell)), (grid.cell * 2, grid.cell * 3))
    board_image.write(sample, (grid.cell * 5, grid.cell * 3.5), "0", theme.ink, grid.cell)
    return sample.quantize(colors=128, method=Image.Quantize.MEDIANCUT)


class GifExport(threading.Thread):
    """Writes an animated GIF in a thread, so that the window stays alive.

    Args:
        path: the file; it appears when it is complete.
        record: the game.
        theme: its colours.
    """

    def __init__(self, path: Path, record: Record, theme: Theme) -> None:
        super().__init__(name="gif-export", daemon=True)
        self.path = path
        self._record = record
        self._theme = theme
        self._frames = 0
        self.error: OSError | None = None

    def run(self) -> None:
        """Write the file; a fault leaves none behind."""
        unfinished = self.path.with_name(self.path.name + ".part")
        try:
            save_gif(unfinished, self._record, self._theme, self._count)
            unfinished.replace(self.path)
        except OSError as error:
            self.error = error
            unfinished.unlink(missing_ok=True)

    def _count(self, frames: int) -> None:
        self._frames = frames

    def progress(self) -> str:
        """Return the progress in words, or an empty text at the end."""
        return f"Drawing frame {self._frames} …" if self.is_alive() else ""
