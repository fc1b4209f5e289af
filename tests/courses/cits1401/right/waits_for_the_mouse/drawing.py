"""A small drawing library: a window that is asked for clicks instead of calling back."""
import time
import tkinter


class Window:
    def __init__(self, title, width, height):
        self.root = tkinter.Tk()
        self.root.title(title)
        self.canvas = tkinter.Canvas(self.root, width=width, height=height)
        self.canvas.pack()
        self.canvas.bind("<Button-1>", self._clicked)
        self.root.protocol("WM_DELETE_WINDOW", self.close)
        self.place = None
        self.closed = False

    def _clicked(self, event):
        self.place = event.x, event.y

    def rectangle(self, x1, y1, x2, y2):
        return self.canvas.create_rectangle(x1, y1, x2, y2, fill="ivory")

    def text(self, x, y, words):
        return self.canvas.create_text(x, y, text=words)

    def change(self, item, **options):
        self.canvas.itemconfigure(item, **options)

    def check_mouse(self):
        """The place of a click since the last look, or None."""
        self.root.update()
        place, self.place = self.place, None
        return place

    def get_mouse(self):
        """Wait for a click."""
        while not self.closed:
            place = self.check_mouse()
            if place:
                return place
            time.sleep(0.05)

    def close(self):
        if not self.closed:
            self.closed = True
            self.root.destroy()
