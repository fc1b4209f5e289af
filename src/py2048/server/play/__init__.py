"""Games, rooms and battles on a server, and the distribution of changes to other processes."""
