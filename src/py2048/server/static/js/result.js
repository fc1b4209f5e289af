// The dialog over the board when a game ends: the server's figures, or a few words without them.
import { toBoard } from "./dialogs.js";
import { element } from "./elements.js";
import { onSwipe } from "./input.js";
import { _ } from "./language.js";
import { WAIT, moves } from "./motion.js";
import { fetched } from "./server.js";

const SERVER_TIMEOUT_MS = 1500;
// The review is asked for at growing intervals.
const FIRST_LOOK_MS = 1000;
const LOOK_GROWTH = 1.4;

export class ResultDialog {
  #dialog = element("dialog", { class: "dialog result", "aria-labelledby": "result-title" });
  #shown = 0; // incremented whenever the dialog is raised or lowered
  #isComing = false;
  #act;

  /**
   * @param {{do: (command: string) => void, leave: (address: string) => void,
   *          move: (direction: string) => void}} act carries out its buttons and swipes
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

  /** Whether the dialog covers the board or will do so in a moment. */
  get isUp() {
    return this.#dialog.open || this.#isComing;
  }

  /** Whether the dialog celebrates a tile and any move goes on. */
  get isWon() {
    return this.#dialog.open && this.#dialog.classList.contains("won");
  }

  /**
   * Show a title and a text.
   * @param {{title: string, text: string, won: boolean, actions: HTMLElement[]}} content
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  async raise({ title, text, won, actions }, soon) {
    const shown = this.#next();
    if (soon && moves()) await pause(WAIT);
    if (shown !== this.#shown) return;
    this.#show(
      soon,
      element("h2", { id: "result-title", tabindex: -1, autofocus: "" }, title),
      element("p", {}, text),
      element("p", { class: "buttons" }, ...actions),
    );
    this.#dialog.classList.toggle("won", won);
  }

  /**
   * Show the server's figures about a game that has ended, and ask for its review, which comes later.
   * @param {import("./session.js").Game} game
   * @param {Parameters<ResultDialog["raise"]>[0]} content shown if the server does not answer
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  async end({ game: id, can_undo }, content, soon) {
    const shown = this.#next();
    const address = `/game/${encodeURIComponent(id)}/result`;
    const answer = fetched(address, { method: "POST" });
    if (soon && moves()) await pause(WAIT);
    const found = await Promise.race([answer, pause(SERVER_TIMEOUT_MS)]);
    if (shown !== this.#shown) return;
    if (!found) {
      this.raise(content, false);
      return;
    }
    this.#show(soon, ...found.body.childNodes);
    for (const undo of this.#dialog.querySelectorAll("[data-do=undo]")) undo.hidden = !can_undo;
    for (let wait = FIRST_LOOK_MS; this.#pending; wait *= LOOK_GROWTH) {
      await pause(wait);
      const fresh = shown === this.#shown && (await fetched(address));
      if (!fresh || shown !== this.#shown) return;
      for (const part of [".result-figures", "[href$='#review']"]) {
        this.#dialog.querySelector(part).replaceWith(fresh.querySelector(part));
      }
    }
  }

  /** Close the dialog and focus the board. */
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
    return ++this.#shown;
  }

  #show(soon, ...content) {
    this.#isComing = false;
    this.#dialog.classList.toggle("late", soon);
    this.#dialog.classList.remove("won");
    const close = element("button", { type: "button", class: "ghost icon result-close", "data-do": "close", "aria-label": _("Close") }, "×");
    this.#dialog.replaceChildren(...content, close);
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  async #share(button) {
    const { share } = await import("./share.js");
    share(button, this.#dialog.querySelector("[role=status]"));
  }

  #clicked(event) {
    const target = event.target.closest("[data-do], [data-share], [data-leave]");
    if (event.target === this.#dialog) this.lower(); // a click beside the dialog
    else if (target?.matches("[data-share]")) this.#share(target);
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
