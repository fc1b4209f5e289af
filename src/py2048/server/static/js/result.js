// The dialog over the board, for the end of a game, a reached target or the end of a session.
import { button, element, link, pause, toBoard } from "./elements.js";
import { onSwipe } from "./input.js";
import { _, ngettext } from "./language.js";
import { WAIT, moves } from "./motion.js";
import { fetched } from "./server.js";

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
    const title = isMine ? _("You made {tile}", { tile }) : _("{tile} is made", { tile });
    this.#raise({ title, text: _("Any move plays on."), won: true, actions }, true);
    return isMine ? _("You made {tile}.", { tile }) : _("{tile} is made.", { tile });
  }

  /**
   * Show the end of a game.
   * @param {Game} game
   * @param {boolean} soon whether to wait until the last move has been seen
   * @param {boolean} hasServer whether to fetch statistics of the game
   */
  end(game, soon, hasServer) {
    const won = isByPlayer(game) && (game.outcome === "won" || game.won);
    const title = won ? _("You win") : _("Game over");
    const text = ngettext("{n} point.", "{n} points.", game.score);
    const actions = [button(_("New game"), () => this.#act.do("new"), hasServer ? "primary" : "")];
    if (!hasServer) actions.unshift(link(_("Review this game"), "?review", "primary"));
    if (!hasServer) actions.push(button(_("Undo the last move"), () => this.#act.do("undo")));
    const content = { title, text, won: false, actions };
    if (hasServer) this.#showFigures(game, content, soon).then(() => this.#act.refresh());
    else this.#raise(content, soon);
  }

  /**
   * Show that the session has ended.
   * @param {number} unsent number of moves that the server does not have
   */
  showLoggedOut(unsent) {
    const text = unsent
      ? ngettext("{n} move still to be sent: log in to keep it.", "{n} moves still to be sent: log in to keep them.", unsent)
      : "";
    const actions = [
      link(_("Log in"), "/account", "primary"),
      button(_("Go on as a guest"), () => location.reload()),
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
   * Show the server's statistics of a finished game, and request its review, which takes longer.
   * @param {Game} game
   * @param {object} content shown by `#raise` if the server does not respond
   * @param {boolean} soon whether to wait until the last move has been seen
   */
  async #showFigures({ game: id, can_undo }, content, soon) {
    const shown = this.#next();
    const address = `/game/${encodeURIComponent(id)}/result`;
    const answer = fetched(address, { method: "POST" });
    if (soon && moves()) await pause(WAIT);
    const found = await Promise.race([answer, pause(SERVER_TIMEOUT_MS)]);
    if (shown !== this.#shown) return;
    if (!found) {
      this.#raise(content, false);
      return;
    }
    this.#show(soon, ...found.body.childNodes);
    for (const undo of this.#dialog.querySelectorAll("[data-do=undo]")) undo.hidden = !can_undo;
    for (let wait = FIRST_LOOK_MS; this.#pending; wait *= LOOK_GROWTH) {
      await pause(wait);
      const fresh = shown === this.#shown && (await fetched(address));
      if (!fresh || shown !== this.#shown) return;
      for (const part of [".result-figures", "[data-review]"]) {
        this.#dialog.querySelector(part).replaceWith(fresh.querySelector(part));
      }
    }
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

/**
 * Whether the player made all moves. Otherwise, a win is not celebrated.
 * @param {Game} game
 */
const isByPlayer = ({ category }) => category !== "computer";
