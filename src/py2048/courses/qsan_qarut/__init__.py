"""Qsan Qarut, a desktop game on an N by N board.

The program consists of a model, a view and a controller.

``model`` is the game and needs no display; ``view`` is the window; ``controller`` connects the two;
``game`` is the program.
"""
