// What covers the board when the game is won or over. It never takes the focus from the board.
import { element } from "./cells.js";
import { VEIL_DELAY, moves } from "./motion.js";

export class Overlay {
  #place;
  #veil = null;
  #timer = 0;

  /** @param {HTMLElement} place the element that holds the board */
  constructor(place) {
    this.#place = place;
  }

  /** Whether something covers the board, or is about to. */
  get isUp() {
    return this.#veil !== null || this.#timer !== 0;
  }

  /**
   * Cover the board.
   * @param {{title: string, text: string, won: boolean, actions: (HTMLElement)[]}} content
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  raise(content, soon) {
    this.lower();
    if (!soon) this.#build(content);
    else {
      const wait = moves() ? VEIL_DELAY : 0;
      this.#timer = setTimeout(() => this.#build(content, "late"), wait);
    }
  }

  /** Take the cover away. */
  lower() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#veil?.remove();
    this.#veil = null;
  }

  #build({ title, text, won, actions }, how = "") {
    this.#timer = 0;
    this.#veil = element(
      "div",
      { class: `veil ${won ? "won" : "over"} ${how}`, role: "group", "aria-label": title },
      element("p", { class: "veil-title" }, title),
      element("p", { class: "veil-text" }, text),
      element("p", { class: "buttons" }, ...actions),
    );
    this.#place.append(this.#veil);
  }
}

/** A button that does something. */
export function button(label, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, label);
  made.addEventListener("click", act);
  return made;
}

/** A link that looks like a button. */
export function link(label, address, kind = "") {
  return element("a", { href: address, class: `button ${kind}` }, label);
}
