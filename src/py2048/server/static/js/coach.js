// Hints, moves and reviews from a web worker, for when there is no server to ask.
import { _, grouped } from "./language.js";
import { WAYS } from "./ways.js";

const loaded = new Map();

/**
 * Load the coach for rules, once; its network's script is at an address.
 * @returns {Promise<Coach>}
 */
export function coachAt(address, rules) {
  if (!loaded.has(address)) loaded.set(address, load(address, rules));
  loaded.get(address).catch(() => loaded.delete(address));
  return loaded.get(address);
}

// A page opened from a disk loads files only as scripts, and its workers load none.
async function load(src, rules) {
  const script = Object.assign(document.createElement("script"), { src });
  document.head.append(script);
  await new Promise((done, failed) => Object.assign(script, { onload: done, onerror: failed }));
  script.remove();
  const worker = new Worker(import.meta.resolve("./coach-worker.js"), { type: "module" });
  worker.postMessage({ type: "network", rules, network: globalThis.network });
  delete globalThis.network; // the weights' text is megabytes
  await new Promise((done, failed) => Object.assign(worker, { onmessage: done, onerror: failed }));
  return new Coach(worker);
}

class Coach {
  #worker;
  #count = 0;
  #waiting = new Map(); // functions that take the answers, by request

  /** @param {Worker} worker that is ready */
  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data: { id, ...answer } }) => this.#waiting.get(id)(answer);
  }

  /**
   * Ask for the network's `move`, a `hint` or a `review`; return the last answer.
   * @param {"move" | "hint" | "review"} type
   * @param {object} facts see `Coaching`
   * @param {(answer: any) => void} [show] called with the answers before
   * @returns {Promise<any>} null for a hint that another one has replaced
   */
  ask(type, facts, show) {
    const id = this.#count++;
    this.#worker.postMessage({ id, type, ...facts });
    return new Promise((resolve) => {
      this.#waiting.set(id, ({ answer, isDone }) => {
        if (!isDone) return show(answer);
        this.#waiting.delete(id);
        resolve(answer);
      });
    });
  }
}

/**
 * A hint as the server would send it.
 * @param {import("./coaching.js").Judged} judged
 * @returns {any} see `Hint`
 */
export function hintOf(judged) {
  const { best, chance, error, grade, games } = judged;
  const ways = Object.keys(chance).sort((one, other) => Number(other === best) - Number(one === best) || chance[other] - chance[one]);
  const options = ways.map((way) => {
    return { direction: way, text: `${per100(chance[way])} %`, share: chance[way], grade: grade[way] };
  });
  const headline = _("{direction} is best", { direction: WAYS[best] });
  const reason = outcome(judged, ways);
  const points = per100(Math.max(...Object.values(error)));
  const outlook = _("Counted in {games} games after each move, in your browser: give or take {points} %.", { games: grouped(games[best]), points });
  return { direction: best, options, headline, reason, outlook, say: `${headline}. ${reason}` };
}

/**
 * How many of 100 games reach the goal after some moves, as `outcome_text` in `presentation/words.py`.
 * @param {import("./coaching.js").Judged} judged
 * @param {string[]} ways
 */
export function outcome({ chance, survival, goal }, [first, ...others]) {
  const facts = { n: per100(chance[first]), tile: grouped(goal), direction: WAYS[first] };
  const start = survival
    ? _("{n} of 100 games like yours last 20 more moves after {direction}", facts)
    : _("{n} of 100 games like yours make {tile} after {direction}", facts);
  const rest = others.map((way) => _("{n} after {direction}", { n: per100(chance[way]), direction: WAYS[way] }));
  return `${[start, ...rest].join("; ")}.`;
}

const per100 = (share) => grouped(100 * share);
