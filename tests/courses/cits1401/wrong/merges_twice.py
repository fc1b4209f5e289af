# loses: 4, 5, 6, 7
# a tile that was merged merges again in the same move
import random
import tkinter as tk

SIZE = 5
SIDE = 80


def slide(line):
    """Slide a line to its front; also say which places moved."""
    tiles = [(i, n) for i, n in enumerate(line) if n]
    out, moved = [], []
    while tiles:
        i, n = tiles.pop(0)
        if tiles and tiles[0][1] == n:
            while tiles and tiles[0][1] == n:
                tiles.pop(0)
                n *= 2
            moved.append(len(out))
        elif i != len(out):
            moved.append(len(out))
        out.append(n)
    return out + [0] * (len(line) - len(out)), moved


class Game:
    def __init__(self):
        self.board = [[0] * SIZE for _ in range(SIZE)]
        cells = [(r, c) for r in range(SIZE) for c in range(SIZE)]
        for r, c in random.sample(cells, random.randint(1, SIZE * SIZE)):
            self.board[r][c] = 2
        self.score = 0
        self.moved = set()

    def lines(self, way):
        """The cells of each line, from the wall to which it slides."""
        n = range(SIZE)
        if way == "Up":
            return [[(r, c) for r in n] for c in n]
        if way == "Down":
            return [[(r, c) for r in reversed(n)] for c in n]
        if way == "Left":
            return [[(r, c) for c in n] for r in n]
        return [[(r, c) for c in reversed(n)] for r in n]

    def after(self, way):
        board = [row[:] for row in self.board]
        moved = set()
        for cells in self.lines(way):
            line, places = slide([self.board[r][c] for r, c in cells])
            for (r, c), n in zip(cells, line):
                board[r][c] = n
            moved.update(cells[p] for p in places)
        return board, moved

    def possible(self, way):
        return self.after(way)[0] != self.board

    def over(self):
        return not any(self.possible(way) for way in ("Up", "Down", "Left", "Right"))

    def move(self, way):
        if not self.possible(way):
            self.score -= 1
            self.moved = set()
            return False
        self.board, self.moved = self.after(way)
        n = range(SIZE)
        edge = {
            "Up": [(SIZE - 1, c) for c in reversed(n)],
            "Down": [(0, c) for c in n],
            "Left": [(r, SIZE - 1) for r in n],
            "Right": [(r, 0) for r in reversed(n)],
        }[way]
        r, c = next((r, c) for r, c in edge if not self.board[r][c])
        self.board[r][c] = 2
        self.score += 1
        return True


class Window:
    def __init__(self):
        self.root = tk.Tk()
        self.root.title("Project 2")
        self.score = tk.Label(self.root)
        self.score.pack()
        self.canvas = tk.Canvas(self.root, width=SIZE * SIDE, height=SIZE * SIDE)
        self.canvas.pack()
        self.canvas.bind("<Button-1>", self.click)
        self.status = tk.Label(self.root)
        self.status.pack()
        tk.Button(self.root, text="New game", command=self.ask).pack()
        tk.Button(self.root, text="Quit", command=self.root.destroy).pack()
        self.choice = tk.Frame(self.root)
        tk.Button(self.choice, text="Human", command=lambda: self.start(False)).pack()
        tk.Button(self.choice, text="Computer", command=lambda: self.start(True)).pack()
        self.game = None
        self.timer = None
        self.playing = False
        self.ask()

    def ask(self):
        self.playing = False
        if self.timer:
            self.root.after_cancel(self.timer)
            self.timer = None
        self.status.config(text="Who plays?")
        self.choice.pack()

    def start(self, computer):
        self.choice.pack_forget()
        self.game = Game()
        self.playing = True
        self.computer = computer
        self.status.config(text="Good luck")
        self.draw()
        if computer:
            self.timer = self.root.after(500, self.computer_move)

    def computer_move(self):
        self.timer = None
        self.attempt(random.choice(["Up", "Down", "Left", "Right"]))
        if self.playing:
            self.timer = self.root.after(500, self.computer_move)

    def click(self, event):
        row, column = event.y // SIDE, event.x // SIDE
        last = SIZE - 1
        if not self.playing or self.computer:
            return
        if row in (0, last) and column in (0, last):
            return
        if row == 0:
            self.attempt("Up")
        elif row == last:
            self.attempt("Down")
        elif column == 0:
            self.attempt("Left")
        elif column == last:
            self.attempt("Right")

    def attempt(self, way):
        if self.game.move(way):
            self.status.config(text=f"{way} movement is successful")
        else:
            self.status.config(text="Movement not possible")
        if self.game.over():
            self.status.config(text=f"Game over! Final score: {self.game.score}")
            self.playing = False
        self.draw()

    def draw(self):
        self.score.config(text=f"Score: {self.game.score}")
        self.canvas.delete("all")
        for r in range(SIZE):
            for c in range(SIZE):
                x, y, n = c * SIDE, r * SIDE, self.game.board[r][c]
                fill = "gold" if (r, c) in self.game.moved else "white"
                self.canvas.create_rectangle(x, y, x + SIDE, y + SIDE, fill=fill)
                if n:
                    self.canvas.create_text(x + SIDE // 2, y + SIDE // 2, text=n, font="Arial 20")


if __name__ == "__main__":
    Window().root.mainloop()
