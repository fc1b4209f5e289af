"""Games, rooms and battles, and how their changes reach the store and other processes."""
