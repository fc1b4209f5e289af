"""A course's life in one folder: its settings, roster, hand-ins, marks and mark files.

``settings`` is what a teacher decides, ``roster`` who takes part, ``handins`` what they handed in
and when, ``marks`` what it is worth, ``pages`` how that reads, ``exports`` how it goes back, and
``alike`` which programs have much in common.
"""

from __future__ import annotations
