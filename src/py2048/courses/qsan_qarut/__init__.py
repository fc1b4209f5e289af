"""Qsan Qarut, an N by N desktop game as model, view and controller.

``model`` is the game and needs no display; ``view`` is the window; ``controller`` connects the two;
``game`` is the program.
"""
