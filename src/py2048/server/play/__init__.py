"""Games, rooms and battles on a server, and notices between its processes."""
