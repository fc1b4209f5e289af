"""How submissions of cits1401 are checked: by playing them and looking at what they show."""
