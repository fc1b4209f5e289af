"""Labels, one for each square; every move is a move to the left on a turned board."""
from random import choice, randint, sample
from tkinter import *

TURNS = {"left": 0, "up": 1, "right": 2, "down": 3}


def turn(rows):
    """A quarter turn against the clock."""
    return [list(row) for row in zip(*rows)][::-1]


def turned(rows, times):
    for _ in range(times % 4):
        rows = turn(rows)
    return rows


def left(rows):
    """The board after a move to the left, and True where a tile has arrived."""
    after, marks = [], []
    for row in rows:
        new, mark, open_ = [], [], False
        for place, number in enumerate(row):
            if number == 0:
                continue
            if open_ and new[-1] == number:
                new[-1] *= 2
                mark[-1] = True
                open_ = False
            else:
                mark.append(place != len(new))
                new.append(number)
                open_ = True
        rest = 5 - len(new)
        after.append(new + [0] * rest)
        marks.append(mark + [False] * rest)
    return after, marks


def attempt(rows, way):
    """The board after a move, with its new tile, and what moved; None if it is impossible."""
    there = turned(rows, TURNS[way])
    after, marks = left(there)
    if after == there:
        return None
    for row in after:  # turned like this, the new tile always comes as high as it can
        if row[4] == 0:
            row[4] = 2
            break
    return turned(after, -TURNS[way]), turned(marks, -TURNS[way])


root = Tk()
root.title("2048")
numbers = [[0] * 5 for _ in range(5)]
score = IntVar(root, 0)
status = StringVar(root, "Welcome")
state = {"player": None, "next": None}
field = Frame(root)
field.grid(row=1, column=0, columnspan=3)
squares = []


def show(marks=None):
    for r in range(5):
        for c in range(5):
            n = numbers[r][c]
            color = "red" if marks and marks[r][c] else "black"
            squares[r][c].config(text=str(n) if n else "", fg=color)


def push(way):
    result = attempt(numbers, way)
    if result is None:
        score.set(score.get() - 1)
        status.set("This movement is not possible")
        show()
    else:
        numbers[:] = result[0]
        score.set(score.get() + 1)
        status.set("Success: moved " + way)
        show(result[1])
    if all(attempt(numbers, w) is None for w in TURNS):
        status.set("GAME OVER - final score " + str(score.get()))
        state["player"] = None


def clicked(way):
    if state["player"] == "human":
        push(way)


def think():
    if state["player"] == "computer":
        push(choice(list(TURNS)))
        state["next"] = root.after(700, think)


def new_game():
    state["player"] = None
    if state["next"]:
        root.after_cancel(state["next"])
    window = Toplevel(root)
    window.title("Who plays?")

    def begin(who):
        window.destroy()
        cells = sample(range(25), randint(1, 25))
        numbers[:] = [[2 * (5 * r + c in cells) for c in range(5)] for r in range(5)]
        score.set(0)
        status.set("A new game")
        state["player"] = who
        show()
        if who == "computer":
            state["next"] = root.after(700, think)

    Button(window, text="Human", command=lambda: begin("human")).pack()
    Button(window, text="Computer", command=lambda: begin("computer")).pack()


Label(root, text="Score").grid(row=0, column=0)
Label(root, textvariable=score).grid(row=0, column=1)
for r in range(5):
    squares.append([])
    for c in range(5):
        label = Label(field, width=6, height=3, relief="ridge")
        label.grid(row=r, column=c)
        squares[-1].append(label)
        way = None
        if 0 < c < 4:
            way = {0: "up", 4: "down"}.get(r)
        elif 0 < r < 4:
            way = {0: "left", 4: "right"}.get(c)
        if way:
            label.bind("<Button-1>", lambda event, way=way: clicked(way))
Label(root, textvariable=status).grid(row=2, column=0, columnspan=3)
Button(root, text="New Game", command=new_game).grid(row=3, column=0)
Button(root, text="Quit", command=root.quit).grid(row=3, column=2)
root.mainloop()
