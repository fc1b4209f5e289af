"""The CITS1401 project: the 5x5 game with clicks on the border and a computer player.

``app`` is the program.
"""
