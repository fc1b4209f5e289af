"""The CITS1401 project: a 5x5 game with clicks on border squares and a computer player.

``app`` is the reference program.
"""
