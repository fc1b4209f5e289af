// The notation of turns in records, and the record of a game played offline.
import { playTurn } from "./game.js";
import { DIRECTIONS } from "./rules.js";

/** @import { Position, Turn } from "./game.js" */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
// On larger boards, cells have two digits.
const MAX_ONE_DIGIT_CELLS = 64;

/** Number of turns per chunk, and maximum number of turns replayed for an undo. */
export const CHUNK_TURNS = 128;

/** The number of the chunk that a turn belongs to. */
export const chunkOf = (index) => Math.floor(index / CHUNK_TURNS);

/** Encode a turn. */
export function codeOf(direction, spawn, { rows, columns }) {
  if (!spawn) return direction[0];
  const number = spawn.cell[0] * columns + spawn.cell[1];
  const isSmall = rows * columns <= MAX_ONE_DIGIT_CELLS;
  const cell = isSmall ? DIGITS[number] : DIGITS[number >> 6] + DIGITS[number & 63];
  return direction[0].toUpperCase() + DIGITS[Math.log2(spawn.tile)] + cell;
}

/** Decode a turn. */
export function turnOf(code, { columns }) {
  const direction = DIRECTIONS.find((each) => each[0] === code[0].toLowerCase());
  if (code.length === 1) return { direction, spawn: null };
  const number = [...code.slice(2)].reduce((sum, digit) => 64 * sum + DIGITS.indexOf(digit), 0);
  const cell = [Math.floor(number / columns), number % columns];
  return { direction, spawn: { tile: 2 ** DIGITS.indexOf(code[1]), cell } };
}

/** Split a string into codes of turns; a lower-case letter is an attempt that moved nothing. */
export function codesIn(text, { rows, columns }) {
  const cell = rows * columns <= MAX_ONE_DIGIT_CELLS ? "." : "..";
  const codes = text.match(new RegExp(`[udlr]|[UDLR].${cell}`, "g")) ?? [];
  if (codes.join("") !== text) throw new Error("not turns of a record");
  return codes;
}

/**
 * The turns of a game since a position, with a cursor. Turns after the cursor are undone and can be redone.
 *
 * Turns are grouped in chunks of `CHUNK_TURNS`, each with the position before it. A move changes only
 * the last chunk, so a long game can be stored chunk by chunk.
 */
export class Record {
  #rules;
  /** @type {Map<number, {position: Position, codes: string[]}>} */
  #chunks = new Map();

  /**
   * @param {object} rules as parsed
   * @param {Position} start
   */
  constructor(rules, { board, score, ply }) {
    this.#rules = rules;
    this.#chunks.set(0, { position: { board, score, ply }, codes: [] });
    /** Number of leading turns that have been dropped. */
    this.first = 0;
    /** Number of turns before the cursor, dropped turns included. */
    this.end = 0;
  }

  /**
   * Restore a stored record.
   * @param {object} rules as parsed
   * @param {{first: number, end: number}} cursor
   * @param {{number: number, position: Position, text: string}[]} chunks in order
   */
  static restore(rules, { first, end }, chunks) {
    const record = new Record(rules, chunks[0].position);
    record.#chunks.clear();
    for (const { number, position, text } of chunks) {
      const codes = codesIn(text, rules);
      record.#chunks.set(number, { position, codes });
      if (codes.length < CHUNK_TURNS) break; // later chunks may remain after turns were undone
    }
    record.first = first;
    record.end = end;
    return record;
  }

  /** Number of turns that are neither dropped nor undone. */
  get length() {
    return this.end - this.first;
  }

  /** Whether there are undone turns. */
  get canRedo() {
    const [number, { codes }] = [...this.#chunks].at(-1);
    return this.end < number * CHUNK_TURNS + codes.length;
  }

  /** All chunks in storage format. */
  get chunks() {
    return [...this.#chunks.keys()].map((number) => this.#stored(number));
  }

  /** The chunk of the turn before the cursor, in storage format. */
  get lastChunk() {
    return this.#stored(chunkOf(this.end - 1));
  }

  /** The code of a turn. */
  code(index) {
    return this.#chunks.get(chunkOf(index)).codes[index % CHUNK_TURNS];
  }

  /** The position before a turn. */
  position(index) {
    const number = chunkOf(index);
    const chunk = this.#chunks.get(number);
    if (!chunk) return this.#step(this.position(index - 1), index - 1);
    let { position } = chunk;
    for (let turn = number * CHUNK_TURNS; turn < index; turn++) position = this.#step(position, turn);
    return position;
  }

  /** The positions from the first remaining turn to the cursor. */
  *positions() {
    let position = this.position(this.first);
    yield position;
    for (let turn = this.first; turn < this.end; turn++) {
      position = this.#step(position, turn);
      yield position;
    }
  }

  /**
   * Add a turn at the cursor, and drop the undone turns.
   * @param {Position} position before the turn
   * @param {Turn} turn
   */
  append({ board, score, ply }, { direction, spawn }) {
    const number = chunkOf(this.end);
    for (const other of this.#chunks.keys()) if (other > number) this.#chunks.delete(other);
    if (!this.#chunks.has(number)) this.#chunks.set(number, { position: { board, score, ply }, codes: [] });
    const { codes } = this.#chunks.get(number);
    codes.splice(this.end % CHUNK_TURNS, Infinity, codeOf(direction, spawn, this.#rules));
    this.end++;
  }

  /** Move the cursor back; return the turn that is undone. */
  undo() {
    this.end--;
    return turnOf(this.code(this.end), this.#rules);
  }

  /** Move the cursor forward; return the turn that is redone. */
  redo() {
    this.end++;
    return turnOf(this.code(this.end - 1), this.#rules);
  }

  /** Drop leading turns. */
  drop(count) {
    this.first += count;
    for (const number of this.#chunks.keys()) {
      if (number < chunkOf(this.first) && this.#chunks.size > 1) this.#chunks.delete(number);
    }
  }

  /** The first remaining turns as a string of at most `maxCharacters`, and their number. */
  piece(maxCharacters) {
    let [text, count] = ["", 0];
    for (; count < this.length; count++) {
      const code = this.code(this.first + count);
      if (text.length + code.length > maxCharacters) break;
      text += code;
    }
    return { text, count };
  }

  #stored(number) {
    const { position, codes } = this.#chunks.get(number);
    return { number, position, text: codes.join("") };
  }

  #step(position, index) {
    return playTurn(this.#rules, position, turnOf(this.code(index), this.#rules)).position;
  }
}
