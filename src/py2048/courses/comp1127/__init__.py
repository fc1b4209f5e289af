"""The COMP1127 project "2048": the reference solution and the modules it is given.

``gui`` is the window that the document calls Shanice's, ``main`` the finished program that
students are asked for.
"""
