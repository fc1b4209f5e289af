"""The window of the render mode ``human``."""

from __future__ import annotations

import io
import time
import tkinter

from PIL import Image

from py2048.errors import Py2048Error


class DisplayError(Py2048Error):
    """A window was asked for and there is no display."""


class Window:
    """A window that shows one picture after another at a steady pace.

    When the person closes it, nothing more is shown and the program goes on.

    Args:
        frames_per_second: how many pictures are shown in a second at most.

    Raises:
        DisplayError: if there is no display.
    """

    def __init__(self, frames_per_second: int) -> None:
        try:
            self._root: tkinter.Tk | None = tkinter.Tk(className="py2048")
        except tkinter.TclError as error:
            raise DisplayError(
                f"render_mode='human' needs a display ({error}); use 'rgb_array' or 'ansi'"
            ) from None
        self._root.title("py2048")
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()
        self._pause = 1 / frames_per_second
        self._next = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the window is still there."""
        return self._root is not None

    def show(self, picture: Image.Image) -> None:
        """Show a picture, no sooner than the pace allows."""
        if self._root is None:
            return
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self._pause
        data = io.BytesIO()
        picture.save(data, "PPM")
        image = tkinter.PhotoImage(master=self._root, data=data.getvalue())
        self._label.configure(image=image)
        self._image = image  # Tk shows it only as long as somebody holds it
        self._root.update()

    def close(self) -> None:
        """Close the window."""
        if self._root is not None:
            self._root.destroy()
            self._root = None
