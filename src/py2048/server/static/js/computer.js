// The selected computer player, its speed and its hints.
import { $, put } from "./elements.js";
import { _, ngettext } from "./language.js";
import { read, write } from "./storage.js";
import { WAYS, markEdge, wayLine } from "./ways.js";

/**
 * @typedef {Pick<Protocol.HintMessage, "direction" | "options" | "headline" | "reason" | "outlook" | "say"> &
 *   Partial<Pick<Protocol.HintMessage, "goal" | "unit">>} Hint
 */

// Moves per second; the last entry means no pause.
const SPEEDS = [1, 2, 4, 8, 16, 32, 1000];

export class Computer {
  #changed;

  /** @param {() => void} changed called when the player or the speed has changed */
  constructor(changed) {
    this.#changed = changed;
    const player = read("player");
    if ([...$("player").options].some((each) => each.value === player)) $("player").value = player;
    $("speed").value = read("speed", $("speed").value);
    $("player").addEventListener("change", () => this.#keep());
    $("player-choice").addEventListener("change", ({ target }) => {
      $("player").value = target.value;
      this.#keep();
    });
    $("speed").addEventListener("input", () => this.#keep());
    this.#say();
  }

  /** The spec of the chosen player. */
  get player() {
    return $("player").value;
  }

  /** Milliseconds between two moves. */
  get delay() {
    const speed = SPEEDS[$("speed").value];
    return speed === SPEEDS.at(-1) ? 0 : Math.round(1000 / speed);
  }

  /** The speed as text. */
  get pace() {
    const speed = SPEEDS[$("speed").value];
    if (speed === SPEEDS.at(-1)) return _("as fast as possible");
    return ngettext("{n} move a second", "{n} moves a second", speed);
  }

  /** Increase (1) or decrease (-1) the speed by a step. */
  changeSpeed(step) {
    $("speed").value = Number($("speed").value) + step;
    this.#keep();
  }

  #keep() {
    write("player", this.player);
    write("speed", $("speed").value);
    this.#say();
    this.#changed();
  }

  #say() {
    for (const each of $("player-choice").querySelectorAll("input")) each.checked = each.value === this.player;
    put("speed-said", this.pace);
  }
}

/**
 * Mark the best direction at the board's edge and list the others' losses; null removes both.
 * @param {?Hint} hint
 */
export function showHint(hint) {
  const best = hint?.direction;
  markEdge(best);
  $("hint-card").classList.toggle("shown", Boolean(best));
  $("hint-card").setAttribute("aria-hidden", String(!best));
  if (!best) return;
  put("reason", hint.reason || (hint.unit === "points" ? _("Points each move loses") : _("What each move loses")));
  const lines = hint.options.map(({ direction, text: lost, share }) =>
    wayLine(direction, { lost, share, isBest: direction === best }),
  );
  $("losses").replaceChildren(...lines);
  put("outlook", hint.outlook);
}

/**
 * The coach's comment on a move, from the hint for the position before it: empty unless it is a mistake.
 * @param {string} direction
 * @param {Hint} hint
 */
export function wordOn(direction, hint) {
  const [best, played] = [hint.direction, direction].map((way) => hint.options.find((each) => each.direction === way));
  if (!["mistake", "blunder"].includes(played?.grade)) return "";
  const facts = { way: WAYS[hint.direction], best: best.text, played: played.text };
  const word = played.grade === "mistake" ? _("A mistake: {way} was better.", facts) : _("A blunder: {way} was far better.", facts);
  return hint.goal ? `${word} ${_("Your chance is {played} instead of {best}.", facts)}` : word;
}
