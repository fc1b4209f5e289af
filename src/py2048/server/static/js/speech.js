// Sentences for screen readers. Of several events in quick succession, only the last is spoken.
import { element } from "./elements.js";
import { _ } from "./language.js";

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

/** Describe a board in sentences, one per row. */
export function spoken(board) {
  return board
    .map((row, index) => {
      const tiles = row.map((tile) => tile || _("empty")).join(", ");
      return _("Row {row}: {tiles}.", { row: index + 1, tiles });
    })
    .join(" ");
}
