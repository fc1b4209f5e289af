"""Strong networks for py2048, as data files for `py2048.players.ntuple.weights`."""
