// Sentences for screen readers. Of several events in quick succession, only the last is spoken.
import { element } from "./elements.js";
import { _, grouped } from "./language.js";
import { WAYS } from "./ways.js";

const PAUSE_MS = 250;
// Older sentences are removed from the page.
const MAX_SENTENCES = 6;

export class Speech {
  #region;
  #waiting = "";
  #timer = 0;

  /** @param {HTMLElement} region a live region */
  constructor(region) {
    this.#region = region;
  }

  /** Speak a sentence, unless another one follows immediately. */
  say(text) {
    if (!text) return;
    this.#waiting = text;
    if (this.#timer) return;
    this.#flush();
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#flush();
    }, PAUSE_MS);
  }

  /** Speak a sentence even if others follow. */
  announce(text) {
    this.#flush();
    this.#append(text);
  }

  #flush() {
    if (this.#waiting) this.#append(this.#waiting);
    this.#waiting = "";
  }

  #append(text) {
    this.#region.append(element("p", {}, text));
    while (this.#region.children.length > MAX_SENTENCES) this.#region.firstChild.remove();
  }
}

export const scoreSentence = (score) => _("Score {score}.", { score: grouped(score) });

/**
 * A turn in sentences: what merged, the points, the new tile and the score.
 * @param {any} event a turn that was played, tried or undone
 * @param {number} score the score after it
 * @param {?number[][]} before the board before it, if known
 */
export function spokenTurn({ kind, direction, points, motions, spawn, redone }, score, before) {
  const name = WAYS[direction];
  const total = scoreSentence(score);
  if (kind === "undone") return `${_("Undone: {direction}.", { direction: name.toLowerCase() })} ${total}`;
  if (!spawn) return [_("{direction}: nothing moves.", { direction: name }), ...(points ? [total] : [])].join(" ");
  const merges = before ? spokenMerges(motions, before) : [];
  const merged = merges.length ? [_("merged {merges}", { merges: merges.join(", ") })] : [];
  const gains = [...merged, ...(points ? [plusOf(points)] : [])].join(", ");
  const [row, column] = spawn.cell.map((index) => index + 1);
  const place = _("row {row}, column {column}", { row, column });
  const tile = _("A {tile} at {place}.", { tile: spawn.tile, place });
  return [...(redone ? [_("Redone.")] : []), gains ? `${name}: ${gains}.` : `${name}.`, tile, total].join(" ");
}

// A change of the score, for ears.
function plusOf(points) {
  const n = grouped(Math.abs(points));
  return points < 0 ? _("minus {n}", { n }) : _("plus {n}", { n });
}

// Merges in words: "2 and 2 into 4".
function spokenMerges(motions, board) {
  const targets = new Set(motions.filter(({ merged }) => merged).map(({ target }) => String(target)));
  return [...targets].map((wanted) => {
    const joined = motions.filter(({ target }) => String(target) === wanted);
    const tiles = joined.map(({ source: [row, column] }) => board[row][column]);
    const listed = _("{several} and {last}", { several: tiles.slice(0, -1).join(", "), last: tiles.at(-1) });
    return _("{tiles} into {tile}", { tiles: listed, tile: tiles.reduce((sum, tile) => sum + tile) });
  });
}

/** Describe a board in sentences, one per row. */
export function spoken(board) {
  return board
    .map((row, index) => {
      const tiles = row.map((tile) => tile || _("empty")).join(", ");
      return _("Row {row}: {tiles}.", { row: index + 1, tiles });
    })
    .join(" ");
}
