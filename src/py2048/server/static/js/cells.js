// The board for assistive technology: a grid with rows and cells, whose text is the tile.
import { _ } from "./language.js";

/** An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export class Cells {
  #cells = [];
  #place = [0, 0];

  /** @param {number} rows @param {number} columns */
  constructor(rows, columns) {
    this.grid = element("div", {
      role: "grid",
      class: "cells",
      "aria-label": _("Board, {rows} by {columns}", { rows, columns }),
      "aria-rowcount": rows,
      "aria-colcount": columns,
    });
    for (let row = 0; row < rows; row++) this.grid.append(this.#row(row, columns));
    this.#cells[0][0].tabIndex = 0;
    this.grid.addEventListener("focusin", (event) => this.#entered(event.target));
  }

  #row(row, columns) {
    const line = element("div", { role: "row", class: "cell-row", "aria-rowindex": row + 1 });
    this.#cells[row] = Array.from({ length: columns }, (_, column) => {
      const text = element("span", { class: "hidden" }, "empty");
      const label = { role: "gridcell", class: "cell", tabindex: -1, "aria-colindex": column + 1 };
      return element("div", label, text);
    });
    line.append(...this.#cells[row]);
    return line;
  }

  /** Write the tiles into the cells. */
  show(board) {
    board.forEach((line, row) =>
      line.forEach((tile, column) => {
        const text = this.#cells[row][column].firstChild;
        const said = tile ? String(tile) : "empty";
        if (text.textContent !== said) text.textContent = said;
      }),
    );
  }

  /** Put the focus on the neighbouring cell in a direction. */
  go(direction) {
    if (this.grid.contains(document.activeElement)) {
      const [row, column] = this.#place;
      const step = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[direction];
      const target = this.#cells[row + step[0]]?.[column + step[1]];
      target?.focus();
    } else {
      this.#cells[this.#place[0]][this.#place[1]].focus();
    }
  }

  #entered(cell) {
    const row = this.#cells.findIndex((line) => line.includes(cell));
    if (row < 0) return;
    this.#cells[this.#place[0]][this.#place[1]].tabIndex = -1;
    this.#place = [row, this.#cells[row].indexOf(cell)];
    cell.tabIndex = 0;
  }
}
