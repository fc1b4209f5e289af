// Parses rules and computes the deterministic part of a move: the slide and its points. The page
// shows it immediately, while the server determines where tiles appear.

export const DIRECTIONS = /** @type {const} */ (["up", "down", "left", "right"]);

/**
 * @typedef {object} Rules
 * @property {number} rows
 * @property {number} columns
 * @property {string} merging `once` or `cascade`
 * @property {{kind: string, numbers: number[]}} scoring
 * @property {{counts: number[], weights: number[][]}} start
 * @property {{kind: string, weights: number[][]}} spawn
 * @property {?number} target
 * @property {boolean} endsAtTarget
 *
 * @typedef {{source: number[], target: number[], merged: boolean}} Motion
 * @typedef {{board: number[][], points: number, motions: Motion[], changed: boolean}} Slide
 */

/**
 * Parse rules in full, such as `classic:size=4x4,…,end=stuck`.
 * @param {string} text
 * @returns {Rules}
 */
export function parseRules(text) {
  const changes = text.slice(text.indexOf(":") + 1).split(",");
  const fields = Object.fromEntries(changes.map((change) => change.split("=")));
  const [rows, columns] = fields.size.split("x").map(Number);
  const [scoring, ...numbers] = fields.scoring.split(":");
  const [kind, tile] = fields.spawn.split(":");
  const isFixed = Number.isNaN(Number(kind));
  const weights = weightsIn(fields.spawn);
  const [counts, startTiles] = fields.start.split("x");
  return {
    rows,
    columns,
    merging: fields.merging,
    scoring: { kind: scoring, numbers: numbers.map(Number) },
    start: { counts: counts.split("..").map(Number), weights: startTiles ? weightsIn(startTiles) : weights },
    spawn: isFixed ? { kind, weights: [[Number(tile), 1]] } : { kind: "random", weights },
    target: fields.target === "none" ? null : Number(fields.target),
    endsAtTarget: fields.end === "target",
  };
}

const weightsIn = (text) => text.split("+").map((pair) => pair.split(":").map(Number));

/**
 * Slide all tiles of a board.
 * @param {number[][]} board rows of tiles, 0 for empty
 * @param {string} direction
 * @param {string} merging how often a tile may merge in one slide: `once` or `cascade`
 * @returns {Slide} the board before a tile appears, the sum of the merged tiles, and each tile's way
 */
export function slide(board, direction, merging) {
  const isVertical = direction === "up" || direction === "down";
  const isForward = direction === "up" || direction === "left";
  const [lines, length] = isVertical ? [board[0].length, board.length] : [board.length, board[0].length];
  const slid = { board: board.map((row) => row.map(() => 0)), points: 0, motions: [], changed: false };
  for (let line = 0; line < lines; line++) {
    slideLine(board, slid, merging, length, (place) => {
      const along = isForward ? place : length - 1 - place;
      return isVertical ? [along, line] : [line, along];
    });
  }
  return slid;
}

// Move the tiles one by one, starting with the one nearest to the wall.
function slideLine(board, slid, merging, length, cell) {
  let [last, count, isOpen] = [0, 0, false];
  for (let place = 0; place < length; place++) {
    const source = cell(place);
    const tile = board[source[0]][source[1]];
    if (!tile) continue;
    const merged = isOpen && last === tile;
    if (merged) slid.points += 2 * tile;
    else count++;
    last = merged ? 2 * tile : tile;
    isOpen = !merged || merging === "cascade";
    const target = cell(count - 1);
    slid.board[target[0]][target[1]] = last;
    slid.motions.push({ source, target, merged });
    slid.changed ||= place !== count - 1;
  }
}

/**
 * The points of a slide; null if they depend on the tile that appears.
 * @param {{kind: string, numbers: number[]}} scoring
 * @param {{points: number, changed: boolean}} slid
 */
export function scoreOf({ kind, numbers }, { points, changed }) {
  if (kind === "merges") return points;
  return kind === "moves" ? numbers[changed ? 0 : 1] : null;
}
