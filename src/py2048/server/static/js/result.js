// What the end of a game shows, in a dialog over the board: the server's answer, or a few words.
import { toBoard } from "./dialogs.js";
import { element } from "./elements.js";
import { onSwipe } from "./input.js";
import { _ } from "./language.js";
import { WAIT, moves } from "./motion.js";
import { fetched } from "./server.js";
import { share } from "./share.js";

const PATIENCE = 1500; // with a server that is slow to answer
const LOOK = 1000;
const SLOWER = 1.4;

export class ResultDialog {
  #dialog = element("dialog", { class: "dialog result", "aria-labelledby": "result-title" });
  #game = 0; // grows with each that is shown, and when one is taken away
  #isComing = false;
  #act;

  /**
   * @param {{do: (command: string) => void, leave: (address: string) => void,
   *          move: (direction: string) => void}} act what its buttons do
   */
  constructor(act) {
    this.#act = act;
    document.body.append(this.#dialog);
    this.#dialog.addEventListener("click", (event) => this.#clicked(event));
    this.#dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.lower();
    });
    onSwipe(this.#dialog, (direction) => this.isWon && this.#act.move(direction), () => null);
  }

  /** Whether it covers the board, or is about to. */
  get isUp() {
    return this.#dialog.open || this.#isComing;
  }

  /** Whether the game it shows continues with any move. */
  get isWon() {
    return this.#dialog.open && this.#dialog.classList.contains("won");
  }

  /**
   * Show a few words.
   * @param {{title: string, text: string, won: boolean, actions: HTMLElement[]}} content
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  async raise({ title, text, won, actions }, soon) {
    const game = this.#next();
    if (soon && moves()) await pause(WAIT);
    if (game !== this.#game) return;
    this.#show(
      soon,
      element("h2", { id: "result-title", tabindex: -1, autofocus: "" }, title),
      element("p", {}, text),
      element("p", { class: "buttons" }, ...actions),
    );
    this.#dialog.classList.toggle("won", won);
  }

  /**
   * Show the end of a game as the server tells it; its review is asked for, and comes later.
   * @param {{game: string, can_undo: boolean}} game
   * @param {object} content what to `raise` without the server
   */
  async end({ game: id, can_undo }, content, soon) {
    const game = this.#next();
    const address = `/game/${encodeURIComponent(id)}/result`;
    const answer = fetched(address, { method: "POST" });
    if (soon && moves()) await pause(WAIT);
    const found = await Promise.race([answer, pause(PATIENCE)]);
    if (game !== this.#game) return;
    if (!found) {
      this.raise(content, false);
      return;
    }
    this.#show(soon, ...found.body.childNodes);
    for (const undo of this.#dialog.querySelectorAll("[data-do=undo]")) undo.hidden = !can_undo;
    for (let wait = LOOK; this.#pending; wait *= SLOWER) {
      await pause(wait);
      const fresh = game === this.#game && (await fetched(address));
      if (!fresh || game !== this.#game) return;
      for (const part of [".result-figures", "[href$='#review']"]) {
        this.#dialog.querySelector(part).replaceWith(fresh.querySelector(part));
      }
    }
  }

  /** Take it away, and give the board the focus. */
  lower() {
    const wasOpen = this.#dialog.open;
    this.#next(false);
    this.#dialog.close();
    if (wasOpen) toBoard();
  }

  get #pending() {
    return this.#dialog.querySelector("[data-pending]");
  }

  #next(isComing = true) {
    this.#isComing = isComing;
    return ++this.#game;
  }

  #show(soon, ...content) {
    this.#isComing = false;
    this.#dialog.classList.toggle("late", soon);
    this.#dialog.classList.remove("won");
    const close = element("button", { type: "button", class: "ghost icon result-close", "data-do": "close", "aria-label": _("Close") }, "×");
    this.#dialog.replaceChildren(...content, close);
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  #clicked(event) {
    const target = event.target.closest("[data-do], [data-share], [data-leave]");
    if (event.target === this.#dialog) this.lower(); // beside it
    else if (target?.matches("[data-share]")) share(target, this.#dialog.querySelector("[role=status]"));
    else if (target?.matches("[data-do]")) {
      this.lower();
      this.#act.do(target.dataset.do);
    } else if (target && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      this.#act.leave(target.href);
    }
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
