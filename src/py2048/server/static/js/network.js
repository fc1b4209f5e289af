// Offline hints from a small network. Its weights are loaded as a script, which `browser_script` in
// `ntuple/weights.py` generates, because a page opened from a file can load only scripts.
import { _, grouped } from "./language.js";
import { DIRECTIONS, parseRules, scoreOf, slide } from "./rules.js";
import { WAYS } from "./ways.js";

/** @import { Game } from "./session.js" */

// Maximum loss per grade, as a share of the expected points; see LIMITS in `review/moves.py`.
const GRADES = /** @type {const} */ ([
  ["best", 0.001], ["good", 0.01], ["inaccuracy", 0.025], ["mistake", 0.1], ["blunder", 1],
]);
const MAX_BLOCKING_MS = 10;
const loaded = new Map();

/** Load the network from a script (cached); return a function that computes hints. */
export function adviserAt(address) {
  if (!loaded.has(address)) loaded.set(address, load(address));
  loaded.get(address).catch(() => loaded.delete(address));
  return loaded.get(address);
}

async function load(src) {
  const script = Object.assign(document.createElement("script"), { src });
  document.head.append(script);
  await new Promise((done, failed) => Object.assign(script, { onload: done, onerror: failed }));
  script.remove();
  const packed = globalThis.network;
  delete globalThis.network; // the weights are megabytes of text
  const network = await Network.unpack(packed);
  return (game) => hintOf(network.rate(game));
}

export class Network {
  #layout;
  #weights;

  constructor(layout, weights) {
    this.#layout = layout;
    this.#weights = weights;
  }

  /** Unpack a network from its script's object. */
  static async unpack({ weights, ...layout }) {
    return new Network(layout, await inflated(bytesOf(weights)));
  }

  /** The expected future points after a slide, before the next tile appears. */
  value(board) {
    const { known, stages, step, size, lookups } = this.#layout;
    const sum = [...new Set(board.flat())].reduce((total, tile) => total + tile);
    const stage = stages.filter((least) => sum >= least).length;
    const ranks = downgraded(board.flat().map((tile) => tile && Math.log2(tile)), known);
    let steps = 0;
    for (const [first, cells] of lookups) {
      let index = stage * size + first;
      for (const [place, cell] of cells.entries()) index += ranks[cell] * 16 ** place;
      // Low bytes come first, then high bytes; together they are zigzag-encoded.
      const zigzag = this.#weights[index] | (this.#weights[index + this.#weights.length / 2] << 8);
      steps += (zigzag >> 1) ^ -(zigzag & 1);
    }
    return steps * step;
  }

  /**
   * The legal moves of a game with their values in points, the best first.
   * @param {Game} game
   */
  rate({ board, rules }) {
    const { merging, scoring } = parseRules(rules.text);
    return DIRECTIONS.map((direction) => ({ direction, slid: slide(board, direction, merging) }))
      .filter(({ slid }) => slid.changed)
      .map(({ direction, slid }) => ({ direction, worth: scoreOf(scoring, slid) + this.value(slid.board) }))
      .sort((one, other) => other.worth - one.worth);
  }
}

// A plain loop: Uint8Array.from with a function takes 25 times as long.
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

// Decompress in pieces, so that the page stays responsive.
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  const pieces = [];
  let since = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    pieces.push(value);
    if (performance.now() - since < MAX_BLOCKING_MS) continue;
    await new Promise((resume) => setTimeout(resume));
    since = performance.now();
  }
}

// Lower ranks that are too large by skipping the largest missing rank, like `downgraded` in
// `ntuple/layout.py`.
function downgraded(ranks, known) {
  const most = Math.max(...ranks);
  if (most <= known) return ranks;
  let missing = most - 1;
  while (missing > 0 && ranks.includes(missing)) missing--;
  if (!missing) return ranks.map((rank) => Math.min(rank, known));
  return downgraded(ranks.map((rank) => rank - Number(rank > missing)), known);
}

/**
 * A hint as the server would send it, with bars and grades as `direction_rows` in
 * `presentation/hints.py` computes them.
 * @param {{direction: Protocol.HintMessage["direction"], worth: number}[]} rated the legal moves, the best first
 * @returns {import("./computer.js").Hint}
 */
export function hintOf(rated) {
  const [{ direction, worth }] = rated;
  const losses = rated.map((each) => worth - each.worth);
  const spread = Math.max(...losses, Math.abs(worth) / 10) || 1;
  const whole = worth > 0 ? worth : spread;
  const options = rated.map((each, index) => {
    const loss = losses[index];
    const text = index === 0 ? _("best") : shortLoss(loss) ? `−${shortLoss(loss)}` : _("as good");
    const grade = GRADES.find(([, limit]) => Math.min(1, loss / whole) <= limit)[0];
    return { direction: each.direction, text, share: 1 - (0.6 * loss) / spread, grade };
  });
  const headline = _("{direction} is best", { direction: WAYS[direction] });
  const points = grouped(Number(Math.max(worth, 0).toPrecision(2)));
  const outlook = _("About {points} points to come with good play.", { points });
  const words = options.slice(1).map((each) => `${WAYS[each.direction]} ${each.text}.`);
  return { direction, options, headline, reason: "", outlook, say: [`${headline}.`, ...words].join(" ") };
}

// Format a loss with few digits, like `short_loss` in `presentation/hints.py`; empty if it rounds
// to 0.
function shortLoss(loss) {
  if (loss >= 99_999.5) return _("{n} k", { n: grouped(loss / 1000) });
  return loss > 0.5 ? grouped(loss) : "";
}
