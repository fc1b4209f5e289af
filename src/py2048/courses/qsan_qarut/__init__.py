"""Qsan Qarut, the N by N desktop game of the course document: model, view and controller.

``model`` is the game and needs no display, ``view`` the window, ``controller`` what joins them,
``game`` the program.
"""
