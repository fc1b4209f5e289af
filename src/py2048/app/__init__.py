"""What people see: the terminal, and what every screen shares (themes, spoken sentences).

`themes` is the one table of colours and `describe` the one set of sentences; a front end brings
only its own way of drawing. Nothing here knows a rule of the game: screens talk to `session`.
"""

from __future__ import annotations
