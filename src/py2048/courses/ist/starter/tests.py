"""Runs the examples in examples.txt on project.py and shows those that come out otherwise.

The amount of white space makes no difference here.
"""

import doctest

if __name__ == "__main__":
    failed, tried = doctest.testfile("examples.txt", optionflags=doctest.NORMALIZE_WHITESPACE)
    print(f"{tried - failed} of {tried} examples came out as expected.")
