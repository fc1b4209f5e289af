"""The strong networks of py2048: files beside this one, which `py2048.ntuple.weights` finds."""
