# Drawn with Zelle's graphics.py, which the document allows.
import random

from graphics import *

STEP = 70
TOP = 60
BUTTONS = {"New game": 60, "Human": 160, "Computer": 240, "Quit": 330}


class Tiles(dict):
    """The numbers by their place (row, column); empty squares are left out."""

    def line(self, way, k):
        forth = range(5) if way in ("up", "left") else range(4, -1, -1)
        return [(i, k) if way in ("up", "down") else (k, i) for i in forth]

    def moved(self, way):
        """The tiles after a move, without the new one, and the places where tiles arrived."""
        new, arrived = Tiles(), set()
        for k in range(5):
            places = self.line(way, k)
            target, free = 0, False
            for at, place in enumerate(places):
                if place not in self:
                    continue
                if free and new[places[target - 1]] == self[place]:
                    new[places[target - 1]] *= 2
                    arrived.add(places[target - 1])
                    free = False
                else:
                    new[places[target]] = self[place]
                    if at != target:
                        arrived.add(places[target])
                    target += 1
                    free = True
        return new, arrived

    def ways(self):
        return [way for way in ("up", "down", "left", "right") if self.moved(way)[0] != self]

    def add(self, way):
        edge = [self.line(way, k)[4] for k in range(5)]
        if way in ("up", "right"):
            edge.reverse()
        self[next(place for place in edge if place not in self)] = 2


class Program:
    def __init__(self):
        self.window = GraphWin("Sliding tiles", 400, 560)
        self.squares, self.numbers = {}, {}
        for row in range(5):
            for column in range(5):
                corner = Point(20 + column * STEP, TOP + row * STEP)
                other = corner.clone()
                other.move(STEP - 4, STEP - 4)
                square = Rectangle(corner, other)
                square.setFill("ivory")
                square.draw(self.window)
                self.squares[row, column] = square
                self.numbers[row, column] = self.text(square.getCenter(), "")
        self.score_text = self.text(Point(200, 30), "Score 0")
        self.status = self.text(Point(200, 450), "Press New game")
        for name, x in BUTTONS.items():
            self.text(Point(x, 500), name).setStyle("bold")

    def text(self, place, words):
        text = Text(place, words)
        text.draw(self.window)
        return text

    def show(self, arrived=()):
        for place, text in self.numbers.items():
            text.setText(self.tiles.get(place, ""))
            self.squares[place].setFill(color_rgb(255, 165, 0) if place in arrived else "ivory")
        self.score_text.setText("Score %d" % self.score)

    def say(self, words):
        self.status.setText(words)

    def button(self, place):
        x, y = place.getX(), place.getY()
        if abs(y - 500) < 15:
            for name, middle in BUTTONS.items():
                if abs(x - middle) < 35:
                    return name

    def start(self):
        places = random.sample(list(self.squares), random.randrange(1, 26))
        self.tiles = Tiles({place: 2 for place in places})
        self.score = 0
        self.say("Play")
        self.show()

    def attempt(self, way):
        if way in self.tiles.ways():
            self.tiles, arrived = self.tiles.moved(way)
            self.tiles.add(way)
            self.score += 1
            self.say("%s movement successful" % way.capitalize())
            self.show(arrived)
        else:
            self.score -= 1
            self.say("Impossible: nothing moves")
            self.show()
        if not self.tiles.ways():
            self.say("Game over, your final score is %d" % self.score)

    def way_of(self, place):
        column, row = (place.getX() - 20) // STEP, (place.getY() - TOP) // STEP
        if 1 <= column <= 3 and row in (0, 4):
            return "up" if row == 0 else "down"
        if 1 <= row <= 3 and column in (0, 4):
            return "left" if column == 0 else "right"

    def human(self):
        """Play until a button is pressed; return it."""
        while True:
            place = self.window.getMouse()
            if self.button(place):
                return self.button(place)
            way = self.way_of(place)
            if way and self.tiles.ways():
                self.attempt(way)

    def computer(self):
        while self.window.isOpen():
            time.sleep(0.4)
            place = self.window.checkMouse()
            if place and self.button(place):
                return self.button(place)
            if self.tiles.ways():
                self.attempt(random.choice(["up", "down", "left", "right"]))

    def choose(self):
        """Wait until one of the buttons is pressed."""
        while True:
            place = self.window.getMouse()
            if self.button(place):
                return self.button(place)

    def run(self):
        pressed = self.choose()
        while pressed not in ("Quit", None):
            if pressed == "New game":
                self.say("Human or Computer?")
                pressed = self.choose()
            elif pressed == "Human":
                self.start()
                pressed = self.human()
            else:
                self.start()
                pressed = self.computer()
        self.window.close()


if __name__ == "__main__":
    Program().run()
