// The computer player: who it is, how fast it plays, and what it thinks of each direction.
import { grouped } from "./numbers.js";
import { read, write } from "./settings.js";

const $ = (id) => document.getElementById(id);
const SPEEDS = [1, 2, 4, 8, 16, 32, 1000];
const START = 2;

export class Computer {
  #changed;

  /** @param {() => void} changed called when the player or the speed was changed */
  constructor(changed) {
    this.#changed = changed;
    const player = read("player");
    if ([...$("player").options].some((each) => each.value === player)) $("player").value = player;
    $("speed").value = read("speed", String(START));
    $("player").addEventListener("change", () => this.#keep());
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

  /** Go a step faster (1) or slower (-1). */
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
    const speed = SPEEDS[$("speed").value];
    const last = SPEEDS.at(-1);
    $("speed-said").textContent =
      speed === last ? "as fast as it thinks" : `${speed} ${speed === 1 ? "move" : "moves"} a second`;
  }
}

/** Write what each direction loses against the best under its arrow; without values, nothing. */
export function showLosses(values = {}, best = "") {
  const most = Math.max(...Object.values(values));
  for (const arrow of document.querySelectorAll(".pad button")) {
    const { direction } = arrow.dataset;
    const loss = Math.round(most - values[direction]);
    const text = direction === best ? "best" : loss ? `−${grouped(loss)}` : "0";
    arrow.querySelector("output").textContent = direction in values ? text : "";
    arrow.classList.toggle("best", direction === best);
  }
}
