"""The pages for people: accounts, players, daily challenge and puzzle, cards, reviews."""
