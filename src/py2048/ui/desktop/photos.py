"""Pictures as Tk wants them, kept as long as they are needed."""

from __future__ import annotations

import io
import tkinter as tk
from collections import OrderedDict
from collections.abc import Callable, Hashable

from PIL import Image

MOST_PIXELS = 12_000_000
"""How many pixels are kept, 4 bytes each; the picture not used for longest goes first."""


def photo_of(image: Image.Image, master: tk.Misc) -> tk.PhotoImage:
    """Return a picture for Tk, by way of PNG: Pillow's own bridge is a package of its own."""
    data = io.BytesIO()
    image.save(data, "PNG", compress_level=1)
    return tk.PhotoImage(master=master, data=data.getvalue(), format="png")


class Photos:
    """Tk's pictures by name, each made once."""

    def __init__(self, master: tk.Misc) -> None:
        self._master = master
        self._photos: OrderedDict[Hashable, tk.PhotoImage] = OrderedDict()
        self._pixels = 0

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._photos)

    def get(self, key: Hashable, draw: Callable[[], Image.Image]) -> tk.PhotoImage:
        """Return the picture called `key`; `draw` makes it where it is new."""
        if key in self._photos:
            self._photos.move_to_end(key)
            return self._photos[key]
        photo = self._photos[key] = photo_of(draw(), self._master)
        self._pixels += photo.width() * photo.height()
        while self._pixels > MOST_PIXELS and len(self._photos) > 1:
            _, oldest = self._photos.popitem(last=False)
            self._pixels -= oldest.width() * oldest.height()
        return photo

    def clear(self) -> None:
        """Forget all; what is on a canvas must be held by whoever put it there."""
        self._photos.clear()
        self._pixels = 0
