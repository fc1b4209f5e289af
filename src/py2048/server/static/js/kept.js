// Stores casual games for offline play. A game consists of a head, which contains its position, and
// chunks of turns. A move writes only the head and the last chunk, regardless of the game's length.
import { Record, chunkOf } from "./record.js";
import { parseRules } from "./rules.js";
import { namesFrom, readJson, write, writeJson } from "./storage.js";

/**
 * @typedef {object} Kept
 * @property {object} game as pages show it
 * @property {{version: number, board: number[][], score: number, ply: number}} start the last position
 *   from the server
 * @property {string[]} unanswered types of the actions without an answer when the connection broke
 * @property {Record} record the turns since `start`
 * @property {number} sent how many turns the server may have, so that they cannot be undone
 */

const HEAD = "game ";

/** The storage name of a game's head. */
export const headName = (id) => HEAD + id;
const chunkName = (id, number) => `turns ${id} ${number}`;

/** Start a record at a game's position. */
export function keptFrom(game) {
  const { version, board, score, ply } = game;
  const record = new Record(parseRules(game.rules.text), { board, score, ply });
  return { game, start: { version, board, score, ply }, unanswered: [], record, sent: 0 };
}

/** Store a game's head; return whether it worked. */
export function saveHead({ game, start, unanswered, record, sent }) {
  const { first, end } = record;
  return writeJson(headName(game.game), { game, start, unanswered, first, end, sent, at: Date.now() });
}

/** Store the chunk with the last appended turn, then the head. */
export function saveTurn(kept) {
  const { game, record } = kept;
  const { number, ...chunk } = record.lastChunk;
  if (!writeJson(chunkName(game.game, number), chunk)) return;
  removeChunks(game.game, number + 1);
  saveHead(kept);
}

/** Remove a game from storage. */
export function remove(id) {
  const head = readJson(headName(id));
  write(headName(id), "");
  removeChunks(id, chunkOf(head?.first || 0));
}

/** Remove chunks whose turns the server has accepted. */
export function removeTaken({ game, record }, count) {
  const before = chunkOf(record.first - count);
  for (let number = before; number < chunkOf(record.first); number++) write(chunkName(game.game, number), "");
}

/** Whether a stored game has turns that the server does not have. */
export function hasUnsent(id) {
  const head = readJson(headName(id));
  return head !== null && head.end > head.first;
}

/**
 * Load a game; null if there is none or it is damaged.
 * @returns {?Kept}
 */
export function load(id) {
  try {
    const { game, start, unanswered, first, end, sent } = readJson(headName(id));
    const rules = parseRules(game.rules.text);
    const record = restored(id, rules, start, first, end);
    if (JSON.stringify(record.position(end).board) !== JSON.stringify(game.board)) return null;
    return { game, start, unanswered: [...unanswered], record, sent: Number(sent) };
  } catch {
    return null;
  }
}

function restored(id, rules, start, first, end) {
  const chunks = [];
  for (let number = chunkOf(first); ; number++) {
    const chunk = readJson(chunkName(id, number));
    if (!chunk) break;
    chunks.push({ number, ...chunk });
  }
  if (chunks.length || end !== first) return Record.restore(rules, { first, end }, chunks);
  return new Record(rules, start); // no turns yet
}

/** The ids of all stored games, in the order in which they were stored. */
export function ids() {
  const heads = namesFrom(HEAD).map((name) => [name.slice(HEAD.length), readJson(name)?.at ?? 0]);
  return heads.sort(([, one], [, other]) => one - other).map(([id]) => id);
}

/** Load a game with unsent turns, or the one that was stored last. */
export function loadNext() {
  const all = ids();
  return load(all.find(hasUnsent) ?? all.at(-1));
}

/** Load the game that was stored last; null if there is none. */
export const loadLast = () => load(ids().at(-1));

function removeChunks(id, from) {
  for (let number = from; readJson(chunkName(id, number)); number++) write(chunkName(id, number), "");
}
