"""The CITS1401 project: a 5x5 game with clicks on the border and a computer player.

``app`` is the reference program.
"""
