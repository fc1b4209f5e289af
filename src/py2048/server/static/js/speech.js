// What screen readers say. Many events in a moment are one sentence: the latest; what matters is
// always said.
import { element } from "./elements.js";
import { _ } from "./language.js";

const PAUSE = 250;
const KEPT = 6;

export class Speech {
  #region;
  #waiting = "";
  #timer = 0;

  /** @param {HTMLElement} region a live region */
  constructor(region) {
    this.#region = region;
  }

  /** Say a sentence, unless others follow at once. */
  say(text) {
    if (!text) return;
    this.#waiting = text;
    if (this.#timer) return;
    this.#flush();
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#flush();
    }, PAUSE);
  }

  /** Say a sentence in any case. */
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
    while (this.#region.children.length > KEPT) this.#region.firstChild.remove();
  }
}

/** A board as sentences, a row each. */
export function spoken(board) {
  return board
    .map((row, index) => {
      const tiles = row.map((tile) => tile || _("empty")).join(", ");
      return _("Row {row}: {tiles}.", { row: index + 1, tiles });
    })
    .join(" ");
}
