// Elements of the play page around the board: badges, buttons and cards.
import { $, badge, disable, find, press, put } from "./elements.js";
import { _, dated, grouped } from "./language.js";
import { fetched } from "./server.js";
import { read, write } from "./storage.js";

/** @import { Game } from "./session.js" */

// The line that explains the game disappears permanently after this many moves.
const LESSON_MOVES = 3;

/** Display names of the kinds of games. */
export const KINDS = {
  casual: _("casual"),
  ranked: _("ranked"),
  daily: _("daily"),
  battle: _("battle"),
  assisted: _("assisted"),
  computer: _("with the computer"),
  position: _("from a position"),
};

/** Whether the player's times to milestones are shown. */
export const isRacing = () => read("milestones") === "on";

/** The mode last chosen in the dialog for new games. A daily game can be started only once a day. */
export const lastMode = () => (read("mode") === "ranked" ? "ranked" : "casual");

/**
 * The preset with a name or with rules in full; undefined for other rules.
 * @param {string} rules
 * @returns {HTMLOptionElement | undefined}
 */
export function presetOf(rules) {
  return [...$("rules").options, ...$("course").options].find(({ value, dataset }) => rules === value || rules === dataset.text);
}

export class GameView {
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
    const kind = mode === "battle" ? battleTime : day && _("daily {day}", { day: dated(day) });
    badge("mode", kind || (mode === "casual" ? "" : KINDS[mode]));
    badge("category", KINDS[category]);
    disable("undo", !canUndo);
    disable("redo", !canRedo);
    for (const id of ["hint", "auto"]) disable(id, mode !== "casual" || isOver);
    for (const id of ["coach", "coach-line"]) disable(id, mode !== "casual");
    const largest = Math.max(...game.board.flat());
    put("next", 2 * largest);
    this.#race(game, `${game.game} ${largest} ${Boolean(game.ply)} ${isOver}`);
    this.#teach(game.ply);
    $("permanent").href = `/game/${game.game}`;
    document.title = isOver ? "2048" : `${grouped(game.score)} · 2048`;
  }

  /**
   * Show the times to milestones if the player races.
   * @param {Game} game
   * @param {string} state changes when there are new times
   */
  async #race({ game, isLocal, category }, state) {
    const isOn = isRacing() && !isLocal && category !== "computer";
    $("race").hidden = !isOn;
    press("milestones-line", isRacing());
    if (isOn) (await import("./race.js")).showRace(game, state);
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
