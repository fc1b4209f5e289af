// The board on the screen: tiles that slide, merge, appear and disappear. It does not depend on the
// rules: motions give each tile's target, and a merged tile is the sum of the tiles that slid into
// it.
import { element } from "./elements.js";
import { _ } from "./language.js";
import { GROW, LEAN, LIGHT, POP, SLIDE, SWEEP, moves } from "./motion.js";

// A merged tile immediately covers the tiles that slid into it, so its number is always visible.
const POPPING = [
  { scale: 1, opacity: 0 },
  { scale: 1, opacity: 1, offset: 0.01 },
  { scale: 1.12, opacity: 1, offset: 0.5 },
  { scale: 1, opacity: 1 },
];
const GROWING = [{ scale: 0.3, opacity: 0 }, { scale: 1, opacity: 1 }];
const FADING = [{ opacity: 1 }, { opacity: 0 }];
const LIGHTING = [{ scale: 1, opacity: 1 }, { scale: 1.35, opacity: 0 }];
const SWEEPING = [{ translate: "-100cqw 0" }, { translate: "100cqw 0" }];
const SLIDING = "cubic-bezier(0.3, 0, 0.2, 1)";
const WAYS = { up: "0 -4px", down: "0 4px", left: "-4px 0", right: "4px 0" };
// All animations of a move start and end together, so the main thread is idle in between.
const MOVE = SLIDE + Math.max(POP, GROW);

/** @param {number[]} cell */
const key = ([row, column]) => `${row},${column}`;

export class BoardView {
  #place;
  #cells;
  #layer;
  #tiles = new Map();
  #running = [];
  #after = [];
  #rest = null;

  /** @param {HTMLElement} place container of the board */
  constructor(place) {
    this.#place = place;
    this.shape = [0, 0];
  }

  /** Whether an animation is running. */
  get isMoving() {
    return this.#running.length > 0;
  }

  /** The tiles on the screen. */
  get board() {
    const [rows, columns] = this.shape;
    return Array.from({ length: rows }, (_row, row) =>
      Array.from({ length: columns }, (_column, column) => this.#value([row, column])),
    );
  }

  /** Show a board at rest. */
  show(board) {
    this.#stop();
    this.#fit(board.length, board[0].length);
    this.#layer.replaceChildren();
    this.#tiles.clear();
    for (const [cell, value] of filled(board)) this.#put(cell, value);
    this.#cells.show(board);
  }

  /** Show the board of a new game; its tiles grow. */
  appear(board) {
    this.show(board);
    for (const tile of this.#tiles.values()) this.#animate(tile, GROWING, GROW);
    this.#settle(board);
  }

  /**
   * Slide the tiles, then let merged tiles pop and the new tile grow.
   * @param {{motions: import("./rules.js").Motion[], spawn: ?{tile: number, cell: number[]}}} event
   * @param {number[][]} board after the move
   */
  move({ motions, spawn }, board) {
    this.finish();
    if (motions.length !== this.#tiles.size || !motions.every(({ source }) => this.#tiles.has(key(source)))) {
      this.show(board);
      return;
    }
    const merged = new Set(motions.filter((motion) => motion.merged).map((m) => key(m.target)));
    const leaving = this.#slide(motions, merged);
    for (const { cell, value } of leaving.sums.values()) {
      this.#animate(this.#put(cell, value, "above"), POPPING, POP, SLIDE, MOVE);
    }
    if (spawn) this.#animate(this.#put(spawn.cell, spawn.tile), GROWING, GROW, SLIDE, MOVE);
    this.#after.push(() => leaving.tiles.forEach((tile) => tile.remove()));
    this.#settle(board);
  }

  /** Let the new tile grow once the current slide has ended. */
  add(spawn, board) {
    const [slide] = this.#running;
    const from = slide ? Math.max(SLIDE, slide.currentTime) : 0;
    this.#running = [...this.#running];
    this.#animate(this.#put(spawn.cell, spawn.tile), GROWING, GROW, from, Math.max(MOVE, from + GROW));
    const grow = this.#running.at(-1);
    slide?.ready.then(() => (grow.startTime = slide.startTime), () => {});
    this.#settle(board);
  }

  /** Change to another board: wrong tiles fade out and missing tiles grow. */
  correct(board) {
    if (!same(this.shape, [board.length, board[0].length])) {
      this.show(board);
      return;
    }
    this.finish();
    const leaving = [...this.#tiles].filter(([place, tile]) => {
      const [row, column] = place.split(",");
      return Number(tile.dataset.value) !== board[row][column];
    });
    for (const [place, tile] of leaving) {
      this.#tiles.delete(place);
      this.#animate(tile, FADING, GROW);
    }
    for (const [cell, value] of filled(board)) {
      if (!this.#tiles.has(key(cell))) this.#animate(this.#put(cell, value), GROWING, GROW);
    }
    this.#after.push(() => leaving.forEach(([, tile]) => tile.remove()));
    this.#settle(board);
  }

  /** Undo a move, given its motions: the new tile disappears and the others slide back. */
  unmove({ motions }, board) {
    this.finish();
    this.#cells.show(board);
    this.#layer.replaceChildren();
    this.#tiles.clear();
    for (const { source, target } of motions) {
      const value = board[source[0]][source[1]];
      this.#travel(this.#put(source, value), target, source, SLIDE);
    }
    this.#settle(board);
  }

  /** Finish all animations at once. */
  finish() {
    for (const animation of this.#running) animation.finish();
    this.#ended();
  }

  /** Shift the board briefly in the direction of an illegal move. */
  lean(direction) {
    if (!moves()) return;
    const frames = [{ translate: "0 0" }, { translate: WAYS[direction] }, { translate: "0 0" }];
    this.#place.querySelector(".board").animate(frames, { duration: LEAN, easing: "ease-out" });
  }

  /** Highlight the game's first tile of a value; for the target, light also sweeps across the board. */
  shine(value, isTarget) {
    if (!moves()) return;
    const tile = [...this.#tiles.values()].find((each) => Number(each.dataset.value) === value);
    if (tile) passing(tile, "light", LIGHTING, { duration: LIGHT, delay: SLIDE, easing: "ease-out" });
    if (isTarget) passing(this.#place.querySelector(".board"), "sweep", SWEEPING, { duration: SWEEP, delay: SLIDE });
  }

  /** Focus a neighbouring cell. */
  look(direction) {
    this.#cells?.go(direction);
  }

  #slide(motions, merged) {
    const before = this.#tiles;
    const leaving = { tiles: [], sums: new Map() };
    this.#tiles = new Map();
    for (const { source, target } of motions) {
      const tile = before.get(key(source));
      this.#travel(tile, source, target);
      if (merged.has(key(target))) {
        const sum = leaving.sums.get(key(target)) ?? { cell: target, value: 0 };
        sum.value += Number(tile.dataset.value);
        leaving.sums.set(key(target), sum);
        leaving.tiles.push(tile);
      } else {
        this.#tiles.set(key(target), tile);
      }
    }
    return leaving;
  }

  #travel(tile, source, target, whole = MOVE) {
    at(tile, target);
    if (key(source) === key(target)) return;
    const frames = [{ translate: translation(source) }, { translate: translation(target) }];
    this.#animate(tile, frames, SLIDE, 0, whole, SLIDING);
  }

  // Animate a tile for `lasts` of `whole` milliseconds. The first and last frames fill the rest.
  #animate(tile, frames, lasts, from = 0, whole = lasts, easing = "ease") {
    if (!moves()) return;
    const timed = frames.map((frame, index) => {
      const share = frame.offset ?? index / (frames.length - 1);
      return { ...frame, easing, offset: (from + lasts * share) / whole };
    });
    if (from) timed.unshift({ ...frames[0], offset: 0 });
    if (from + lasts < whole) timed.push({ ...frames.at(-1), offset: 1 });
    this.#running.push(tile.animate(timed, whole));
  }

  // Show exactly this board, now or once the last animation has ended.
  #settle(board) {
    this.#cells.show(board);
    this.#rest = board;
    this.#after.push(() => {
      if (!same(this.board, this.#rest)) this.show(this.#rest);
    });
    const running = this.#running;
    if (!running.length) this.#ended();
    Promise.allSettled(running.map((animation) => animation.finished)).then(() => {
      if (this.#running === running) this.#ended();
    });
  }

  #ended() {
    this.#running = [];
    const after = this.#after;
    this.#after = [];
    for (const act of after) act();
  }

  #stop() {
    for (const animation of this.#running) animation.cancel();
    this.#running = [];
    this.#after = [];
  }

  #value(cell) {
    return Number(this.#tiles.get(key(cell))?.dataset.value ?? 0);
  }

  #put(cell, value, layer = "") {
    const tile = element("div", { class: `tile rank-${rank(value)} ${layer}` });
    tile.style.setProperty("--digits", String(value).length);
    tile.textContent = value;
    tile.dataset.value = value;
    at(tile, cell);
    this.#layer.append(tile);
    this.#tiles.set(key(cell), tile);
    return tile;
  }

  #fit(rows, columns) {
    if (same(this.shape, [rows, columns])) return;
    this.shape = [rows, columns];
    this.#cells = new Cells(rows, columns);
    this.#layer = element("div", { class: "tiles", "aria-hidden": "true" });
    this.#place.style.setProperty("--rows", rows);
    this.#place.style.setProperty("--columns", columns);
    const frame = element("div", { class: "board" }, this.#cells.grid, this.#layer);
    frame.style.setProperty("--digit-width", digitWidth());
    this.#place.querySelector(".board")?.remove();
    this.#place.prepend(frame);
  }
}

/** The board for assistive technology: an ARIA grid with a cell per tile. */
class Cells {
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
    this.#cells[row] = Array.from({ length: columns }, (_cell, column) => {
      const text = element("span", { class: "hidden" }, _("empty"));
      const label = { role: "gridcell", class: "cell", tabindex: -1, "aria-colindex": column + 1 };
      return element("div", label, text);
    });
    line.append(...this.#cells[row]);
    return line;
  }

  /** Update the texts of the cells. */
  show(board) {
    board.forEach((line, row) =>
      line.forEach((tile, column) => {
        const text = this.#cells[row][column].firstChild;
        const said = tile ? String(tile) : _("empty");
        if (text.textContent !== said) text.textContent = said;
      }),
    );
  }

  /** Focus the neighbouring cell in a direction. */
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

const styles = getComputedStyle(document.documentElement);
// Read once, because reading forces the browser to recompute styles.
let [known, beyond] = [0, 0];

/** Width of the widest bold digit in the page's font, relative to the font size. */
function digitWidth() {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `800 100px digits, ${styles.fontFamily}`;
  return Math.max(...[..."0123456789"].map((digit) => pen.measureText(digit).width)) / 100;
}

/** A small board at rest, as the server's macro `small_board`. */
export function smallBoard(board, label) {
  const cells = board.flat().map((tile) => {
    const kind = tile ? `rank-${rank(tile)} digits-${Math.min(String(tile).length, 7)}` : "";
    return element("span", { class: kind }, tile ? String(tile) : "");
  });
  return element("div", { class: `mini columns-${board[0].length}`, role: "img", "aria-label": label }, ...cells);
}

/** Number of a tile's style. Larger tiles repeat the last styles. */
function rank(value) {
  const own = Math.round(Math.log2(value));
  if (!known) {
    known = Number(styles.getPropertyValue("--ranks"));
    beyond = Number(styles.getPropertyValue("--ranks-beyond"));
  }
  return own <= known ? own : known + 1 + ((own - known - 1) % beyond);
}

function* filled(board) {
  for (const [row, line] of board.entries()) {
    for (const [column, value] of line.entries()) if (value) yield [[row, column], value];
  }
}

// Add an element to a container for the duration of an animation.
function passing(place, kind, frames, timing) {
  const made = element("i", { class: kind });
  place.append(made);
  made.animate(frames, { fill: "both", ...timing }).finished.then(() => made.remove(), () => {});
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const at = (tile, cell) => (tile.style.translate = translation(cell));
const translation = ([row, column]) => `calc(${column} * var(--step)) calc(${row} * var(--step))`;
