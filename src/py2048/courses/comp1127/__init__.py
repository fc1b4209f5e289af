"""The COMP1127 project "2048": the reference solution and the modules given to students.

``gui`` is the document's GUI module, and ``main`` is the finished program.
"""
