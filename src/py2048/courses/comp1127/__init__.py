"""The COMP1127 project "2048": the reference solution and the modules given to students.

``gui`` is Shanice's window, ``main`` the finished program.
"""
