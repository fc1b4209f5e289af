// What the page for playing shows around the board: badges, buttons, and how a game ends.
import { KINDS } from "./dialogs.js";
import { $, badge, button, disable, find, link, press, put } from "./elements.js";
import { _, grouped, ngettext } from "./language.js";
import { LOGGED_OUT } from "./connection.js";
import { fetched } from "./server.js";
import { read, write } from "./storage.js";

/** @import { Game } from "./session.js" */

// The line that explains the game disappears for ever after this many moves.
const LESSON_MOVES = 3;

export class GameView {
  #result;

  /**
   * @param {import("./result.js").ResultDialog} result
   * @param {{again: () => void, choose: () => void, undo: () => void, refresh: () => void}} acts what
   *   buttons do, and how to refresh the cards beside the board
   */
  constructor(result, acts) {
    this.#result = result;
    this.acts = acts;
  }

  /**
   * Show a game's name and badges, and enable its buttons.
   * @param {Game} game
   * @param {string} [battleTime] the time left in a battle
   */
  render(game, battleTime) {
    const { rules, mode, category, day, can_undo: canUndo, can_redo: canRedo } = game;
    const isOver = game.outcome !== "playing";
    const { target } = rules;
    put("rules-name", rules.name);
    put("rules-summary", target ? _("Join equal tiles. Make {target}.", { target }) : rules.summary);
    const kind = mode === "battle" ? battleTime : day && _("daily {day}", { day });
    badge("mode", kind || (mode === "casual" ? "" : KINDS[mode]));
    badge("category", KINDS[category]);
    disable("undo", !canUndo);
    disable("redo", !canRedo);
    for (const id of ["hint", "auto"]) disable(id, mode !== "casual" || isOver);
    for (const id of ["coach", "coach-line"]) disable(id, mode !== "casual");
    put("next", 2 * Math.max(...game.board.flat()));
    this.#teach(game.ply);
    $("permanent").href = `/game/${game.game}`;
    document.title = isOver ? "2048" : `${grouped(game.score)} · 2048`;
  }

  /** Celebrate the target tile; return the line for the status. */
  celebrate(game, tile) {
    const isMine = isByPlayer(game);
    const actions = [
      button(_("Keep playing"), () => this.#result.lower(), "primary"),
      button(_("New game"), this.acts.choose),
    ];
    const title = isMine ? _("You made {tile}", { tile }) : _("{tile} is made", { tile });
    this.#result.raise({ title, text: _("Any move plays on."), won: true, actions }, true);
    return isMine ? _("You made {tile}.", { tile }) : _("{tile} is made.", { tile });
  }

  /**
   * Show the end of a game.
   * @param {Game} game
   * @param {boolean} soon whether to wait until the last move has been seen
   * @param {boolean} hasServer whether to fetch figures about the game
   */
  end(game, soon, hasServer) {
    const won = isByPlayer(game) && (game.outcome === "won" || game.won);
    const title = won ? _("You win") : _("Game over");
    const text = ngettext("{n} point.", "{n} points.", game.score);
    const actions = [button(_("New game"), this.acts.again, "primary")];
    if (!hasServer) actions.push(button(_("Undo the last move"), this.acts.undo));
    const content = { title, text, won: false, actions };
    if (hasServer) this.#result.end(game, content, soon).then(this.acts.refresh);
    else this.#result.raise(content, soon);
  }

  /** Show that the session has ended. */
  showLoggedOut(unsent) {
    const text = unsent
      ? ngettext("{n} move still to be sent: log in to keep it.", "{n} moves still to be sent: log in to keep them.", unsent)
      : "";
    const actions = [
      link(_("Log in"), "/account", "primary"),
      button(_("Go on as a guest"), () => location.reload()),
    ];
    this.#result.raise({ title: _("You are logged out"), text, won: false, actions }, false);
  }

  /** Whether the notice about the ended session is on the screen. */
  isLoggedOutShown(noted) {
    return this.#result.isUp && noted === LOGGED_OUT;
  }

  /** Fetch the cards beside the board: today's challenges and statistics. */
  async lookBeside(game) {
    const fresh = await fetched(`/today?rules=${encodeURIComponent(game.rules.text)}`);
    if (!fresh) return;
    $("today").replaceChildren(...fresh.body.childNodes);
    const { days } = find(".streak").dataset;
    $("streak-chip").hidden = !days;
    $("streak-chip").lastElementChild.textContent = days ?? "";
  }

  /** Show or hide the four arrow buttons. */
  showPad(isOn) {
    write("pad", isOn ? "on" : "");
    find(".pad").hidden = !isOn;
    press("pad-line", isOn);
  }

  #teach(ply) {
    if (!read("steps") && ply >= LESSON_MOVES) write("steps", String(LESSON_MOVES));
    find(".play").classList.toggle("first-steps", !read("steps"));
  }
}

/**
 * Whether the player has made all moves. With moves by the computer, a win is not praised.
 * @param {Game} game
 */
const isByPlayer = ({ category }) => category !== "computer";
