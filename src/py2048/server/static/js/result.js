// The dialog over the board, for the end of a game, a reached target or the end of a session.
import { button, element, link, pause, toBoard } from "./elements.js";
import { onSwipe } from "./input.js";
import { _, ngettext } from "./language.js";
import { WAIT, moves } from "./motion.js";
import { fetched } from "./server.js";
import { isRacing } from "./view.js";

/** @import { Game } from "./session.js" */

const SERVER_TIMEOUT_MS = 1500;
// The review is polled at increasing intervals.
const FIRST_LOOK_MS = 1000;
const LOOK_GROWTH = 1.4;

export class ResultDialog {
  #dialog = element("dialog", { class: "dialog result", "aria-labelledby": "result-title" });
  #shown = 0; // incremented whenever the dialog is raised or lowered
  #isComing = false;
  #act;

  /**
   * @param {{do: (command: string) => void, leave: (address: string) => void, refresh: () => void,
   *          move: (direction: string) => void}} act carries out its buttons and swipes, and refreshes
   *   the cards beside the board
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

  /** Whether the dialog covers the board or is about to. */
  get isUp() {
    return this.#dialog.open || this.#isComing;
  }

  /** Whether the dialog celebrates a tile, so that any move continues the game. */
  get isWon() {
    return this.#dialog.open && this.#dialog.classList.contains("won");
  }

  /**
   * Celebrate the target tile; return the line for the status.
   * @param {Game} game
   * @param {number} tile
   */
  celebrate(game, tile) {
    const isMine = isByPlayer(game);
    const actions = [
      button(_("Keep playing"), () => this.lower(), "primary"),
      button(_("New game"), () => this.#act.do("rules")),
    ];
    const title = isMine ? _("You made {tile}", { tile }) : _("{tile} reached", { tile });
    const text = `${ngettext("{n} point.", "{n} points.", game.score)} ${_("Make any move to play on.")}`;
    this.#raise({ title, text, won: true, actions }, true);
    return isMine ? _("You made {tile}.", { tile }) : _("{tile} reached.", { tile });
  }

  /**
   * Show the end of a game.
   * @param {Game} game
   * @param {boolean} soon whether to wait until the last move has been seen
   * @param {boolean} hasServer whether the server words the result; otherwise the page does
   */
  async end(game, soon, hasServer) {
    const won = isByPlayer(game) && (game.outcome === "won" || game.won);
    const title = won ? _("You win") : _("Game over");
    const text = ngettext("{n} point.", "{n} points.", game.score);
    const actions = [button(_("New game"), () => this.#act.do("new"), "primary")];
    const address = `/game/${encodeURIComponent(game.game)}/result${isRacing() ? "?race" : ""}`;
    const look = hasServer ? (options) => fetched(address, options) : (await import("./alone.js")).resultOf(game);
    await this.#showFigures(game, { title, text, won: false, actions }, soon, look);
    this.#act.refresh();
  }

  /**
   * Show that the session has ended.
   * @param {number} unsent number of moves that the server does not have
   */
  showLoggedOut(unsent) {
    const text = unsent
      ? ngettext("{n} move not sent yet: log in to keep it.", "{n} moves not sent yet: log in to keep them.", unsent)
      : "";
    const actions = [
      link(_("Log in"), "/account", "primary"),
      button(_("Continue as a guest"), () => location.reload()),
    ];
    this.#raise({ title: _("You are logged out"), text, won: false, actions }, false);
  }

  /** Close the dialog and focus the board. */
  lower() {
    const wasOpen = this.#dialog.open;
    this.#next(false);
    this.#dialog.close();
    if (wasOpen) toBoard();
  }

  /**
   * Show a title and a text.
   * @param {{title: string, text: string, won: boolean, actions: HTMLElement[]}} content
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  async #raise({ title, text, won, actions }, soon) {
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
   * Show the figures of a finished game, and request the review of a player's moves, which takes
   * longer.
   * @param {Game} game
   * @param {object} content shown by `#raise` until the server responds
   * @param {boolean} soon whether to wait until the last move has been seen
   * @param {(options?: object) => Promise<?Document>} look gets the result in HTML
   */
  async #showFigures(game, content, soon, look) {
    let shown = this.#next();
    const answer = look({ method: isByPlayer(game) ? "POST" : "GET" });
    if (soon && moves()) await pause(WAIT);
    let found = await Promise.race([answer, pause(SERVER_TIMEOUT_MS)]);
    if (shown !== this.#shown) return;
    if (!found) {
      this.#raise(content, false);
      shown = this.#shown;
      found = await answer; // late, or null
      if (!found || shown !== this.#shown) return;
    }
    this.#show(soon, ...found.body.childNodes);
    this.#act.refresh();
    for (const undo of this.#dialog.querySelectorAll("[data-do=undo]")) undo.hidden = !game.can_undo;
    for (let wait = FIRST_LOOK_MS; this.#dialog.querySelector("[data-pending]"); wait *= LOOK_GROWTH) {
      await pause(wait);
      const fresh = shown === this.#shown && (await look());
      if (!fresh || shown !== this.#shown) return;
      for (const part of [".result-figures", "[data-review]"]) {
        this.#dialog.querySelector(part).replaceWith(fresh.querySelector(part));
      }
    }
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

/**
 * Whether the player made all moves. Otherwise, a win is not celebrated.
 * @param {Game} game
 */
const isByPlayer = ({ category }) => category !== "computer";
