"""Games, rooms and battles, and the distribution of their changes to other processes."""
