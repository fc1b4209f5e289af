"""The two languages of the course: the names and texts of its document in each.

The course is taught in Portuguese, and its document was translated into English. The checks are
written in English once; in another language they are the same checks with other words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from py2048.courses.grading import Check, Example, Lines, Raises, Task


@dataclass(frozen=True)
class Language:
    """A language: what stands in it for the names and texts of the English document."""

    table: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        """The text with the names and texts of this language."""
        if not self.table:
            return text
        longest_first = sorted(map(re.escape, self.table), key=len, reverse=True)
        pattern = rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)"
        return re.sub(pattern, lambda found: self.table[found[0]], text)

    def task(self, task: Task) -> Task:
        """A task in this language."""
        return replace(
            task,
            title=self(task.title),
            asked=self(task.asked),
            checks=tuple(map(self.check, task.checks)),
            reference_patches=tuple(map(self, task.reference_patches)),
        )

    def check(self, check: Check) -> Check:
        """A check in this language; a function that runs it is passed the language."""
        patches = check.reference_patches
        run: Any = check.run  # ist's functions take the words beside the session
        return replace(
            check,
            title=self(check.title),
            examples=[self.example(example) for example in check.listed()],
            run=run and partial(run, words=self),
            reference_patches=patches and tuple(map(self, patches)),
        )

    def example(self, example: Example) -> Example:
        """An example in this language."""
        return replace(
            example,
            code=self(example.code),
            given=self(example.given),
            expected=self.expectation(example.expected),
            prints=self.expectation(example.prints),
            then={self(code): value for code, value in example.then.items()},
        )

    def expectation(self, expected: object) -> object:
        """What is expected, with its texts in this language."""
        match expected:
            case str():
                return self(expected)
            case Raises(type=kind, message=str(message)):
                return Raises(kind, self(message))
            case Lines(text=text):
                return Lines(self(text))
            case _:
                return expected


ENGLISH = Language()
PORTUGUESE = Language(
    {
        "create_coordinate": "cria_coordenada",
        "coordinate_row": "coordenada_linha",
        "coordinate_col": "coordenada_coluna",
        "is_coordinate": "e_coordenada",
        "coordinates_equal": "coordenadas_iguais",
        "create_board": "cria_tabuleiro",
        "board_position": "tabuleiro_posicao",
        "board_score": "tabuleiro_pontuacao",
        "board_empty_positions": "tabuleiro_posicoes_vazias",
        "board_fill_position": "tabuleiro_preenche_posicao",
        "board_update_score": "tabuleiro_actualiza_pontuacao",
        "board_reduce": "tabuleiro_reduz",
        "is_board": "e_tabuleiro",
        "board_finished": "tabuleiro_terminado",
        "boards_equal": "tabuleiros_iguais",
        "print_board": "escreve_tabuleiro",
        "copy_board": "copia_tabuleiro",
        "fill_random_position": "preenche_posicao_aleatoria",
        "request_move": "pede_jogada",
        "game_2048": "jogo_2048",
        "invalid arguments": "argumentos invalidos",
        "Score:": "Pontuacao:",
        "Pick a move": "Introduza uma jogada",
        "Invalid move.": "Jogada invalida.",
    }
)
