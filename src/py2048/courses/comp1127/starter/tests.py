"""Try the examples of TASKS.md that need no window: python tests.py."""

import unittest

import main


class TestGrid(unittest.TestCase):
    """Tasks 1, 2, 3 and 6."""

    def setUp(self):
        """Lay the board of the example in task 2."""
        self.before = main.grid
        main.grid = [[0, 0, 0, 4], [0, 0, 4, 2], [2, 4, 4, 2], [0, 8, 4, 2]]

    def tearDown(self):
        """Put the program's own grid back."""
        main.grid = self.before

    def test_1_the_grid_is_empty(self):
        """Four rows of four zeros, none of them twice the same list."""
        self.assertEqual(self.before, [[0, 0, 0, 0]] * 4)
        self.assertEqual(len({id(row) for row in self.before}), 4)

    def test_2_empty_slots(self):
        """The empty slots, row by row."""
        slots = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (3, 0)]
        self.assertEqual(main.empty_slots(), slots)

    def test_3_random_position(self):
        """One of the empty slots."""
        for _ in range(50):
            self.assertIn(main.random_position(), main.empty_slots())

    def test_6_into_an_empty_slot(self):
        """The number moves by one slot."""
        main.grid = [[0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        self.assertEqual(main.update_grid(0, 1, main.LEFT), (0, 0))
        self.assertEqual(main.grid[0], [2, 0, 0, 0])

    def test_6_onto_an_equal_number(self):
        """The numbers add up."""
        main.grid = [[2, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        self.assertEqual(main.update_grid(0, 1, main.LEFT), (0, 0))
        self.assertEqual(main.grid[0], [4, 0, 0, 0])

    def test_6_at_the_wall(self):
        """Nothing changes."""
        main.grid = [[2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        self.assertEqual(main.update_grid(0, 0, main.LEFT), (0, 0))
        self.assertEqual(main.grid[0], [2, 0, 0, 0])


if __name__ == "__main__":
    unittest.main()
