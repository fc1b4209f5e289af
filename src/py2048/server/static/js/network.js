// What a small network thinks of the moves, where no server is there to be asked. Its weights come
// as a script, which `browser_script` in `ntuple/weights.py` makes: a page on a disk may load scripts.
import { _, grouped } from "./language.js";
import { parseRules, scoreOf, slide } from "./rules.js";
import { DIRECTIONS, WAYS } from "./ways.js";

const GRADES = [["best", 0.001], ["good", 0.01], ["inaccuracy", 0.025], ["mistake", 0.1], ["blunder", 1]];
const loaded = new Map();

/** What gives hints on games, by the network whose script is at an address, loaded once. */
export function adviserAt(address) {
  if (!loaded.has(address)) loaded.set(address, load(address));
  loaded.get(address).catch(() => loaded.delete(address));
  return loaded.get(address);
}

async function load(src) {
  const script = Object.assign(document.createElement("script"), { src });
  document.head.append(script);
  await new Promise((done, failed) => Object.assign(script, { onload: done, onerror: failed }));
  const network = await Network.of(globalThis.network);
  return (game) => hintOf(network.rate(game));
}

export class Network {
  #told;
  #weights;

  constructor(told, weights) {
    this.#told = told;
    this.#weights = weights;
  }

  /** A network as its script tells it. */
  static async of({ weights, ...told }) {
    const packed = new Blob([Uint8Array.from(atob(weights), (character) => character.charCodeAt(0))]);
    const unpacked = packed.stream().pipeThrough(new DecompressionStream("deflate"));
    return new Network(told, new Uint8Array(await new Response(unpacked).arrayBuffer()));
  }

  /** The points still to come after a slide, before its spawn. */
  value(board) {
    const { known, stages, step, size, lookups } = this.#told;
    const sum = [...new Set(board.flat())].reduce((total, tile) => total + tile);
    const stage = stages.filter((least) => sum >= least).length;
    const ranks = downgraded(board.flat().map((tile) => tile && Math.log2(tile)), known);
    let steps = 0;
    for (const [first, cells] of lookups) {
      let index = stage * size + first;
      for (const [place, cell] of cells.entries()) index += ranks[cell] * 16 ** place;
      const zigzag = this.#weights[index] | (this.#weights[index + this.#weights.length / 2] << 8);
      steps += (zigzag >> 1) ^ -(zigzag & 1);
    }
    return steps * step;
  }

  /** The legal moves of a game with what they are worth, in points; the best first. */
  rate({ board, rules }) {
    const { merging, scoring } = parseRules(rules.text);
    return DIRECTIONS.map((direction) => ({ direction, slid: slide(board, direction, merging) }))
      .filter(({ slid }) => slid.changed)
      .map(({ direction, slid }) => ({ direction, worth: scoreOf(scoring, slid) + this.value(slid.board) }))
      .sort((one, other) => other.worth - one.worth);
  }
}

// Ranks up to a known one: the largest missing one is skipped, as `downgraded` in `ntuple/layout.py`.
function downgraded(ranks, known) {
  const most = Math.max(...ranks);
  if (most <= known) return ranks;
  let missing = most - 1;
  while (missing > 0 && ranks.includes(missing)) missing--;
  if (!missing) return ranks.map((rank) => Math.min(rank, known));
  return downgraded(ranks.map((rank) => rank - (rank > missing)), known);
}

// A hint as the server tells it, of the legal moves with what they are worth.
function hintOf(rated) {
  const [{ direction, worth }] = rated;
  const whole = worth > 0 ? worth : 2 * (worth - rated.at(-1).worth) || 1;
  const options = rated.map((each) => {
    const loss = worth - each.worth;
    const text = each.direction === direction ? _("best") : Math.round(loss) ? `−${grouped(loss)}` : _("as good");
    const grade = GRADES.find(([, limit]) => Math.min(1, loss / whole) <= limit)[0];
    return { direction: each.direction, text, share: Math.max(0, 1 - loss / whole), grade };
  });
  const headline = _("{direction} is best", { direction: WAYS[direction] });
  const points = grouped(Number(Math.max(worth, 0).toPrecision(2)));
  const outlook = _("About {points} points to come with good play.", { points });
  const losses = options.slice(1).map((each) => `${WAYS[each.direction]} ${each.text}.`);
  return { direction, options, headline, reason: "", outlook, say: [`${headline}.`, ...losses].join(" ") };
}
