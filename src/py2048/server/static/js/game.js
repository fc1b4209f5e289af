// Spawns, scores and outcomes of games played offline.
import { DIRECTIONS, scoreOf, slide } from "./rules.js";

/**
 * @typedef {number[][]} Board
 * @typedef {{board: Board, score: number, ply: number}} Position
 * @typedef {{tile: number, cell: number[]}} Spawn
 * @typedef {{direction: string, spawn: ?Spawn}} Turn without a spawn, an attempt that moved nothing
 * @typedef {(choices: number) => number} Pick draws a number below `choices`
 * @typedef {(counter: bigint | number) => Pick} Draws the draw with this number, for a tile and its cell
 */

/** The directions that change a board. */
export function legalOn(board) {
  return DIRECTIONS.filter((direction) => slide(board, direction, "once").changed);
}

/** Whether a board has the target tile. */
export function hasTarget({ target }, board) {
  return target !== null && Math.max(...board.flat()) >= target;
}

/** The outcome of a game with this board. */
export function outcomeOf(rules, board) {
  const won = hasTarget(rules, board);
  if (!(won && rules.endsAtTarget) && legalOn(board).length) return "playing";
  if (rules.target === null) return "ended";
  return won ? "won" : "lost";
}

/**
 * Draw the tile that appears after a slide.
 * @param {{spawn: {kind: string, weights: number[][]}}} rules
 * @param {Board} board after the slide
 * @param {?string} direction of the slide
 * @param {Pick} pick
 * @returns {Spawn}
 */
export function spawnOn({ spawn }, board, direction, pick) {
  const cells = spawn.kind === "edge" ? edgeCells(board, direction) : emptyCells(board);
  const total = spawn.weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = pick(total);
  const [tile] = spawn.weights.find(([, weight]) => (left -= weight) < 0);
  return { tile, cell: cells[pick(cells.length)] };
}

/**
 * Play a turn; return the slide, the position after it, and the event to show.
 * @param {object} rules as parsed
 * @param {Position} position
 * @param {Turn} turn
 */
export function playTurn(rules, { board, score, ply }, { direction, spawn }) {
  const slid = slide(board, direction, rules.merging);
  if (spawn) slid.board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
  const position = {
    board: slid.board,
    score: scoreAfter(rules.scoring, score, slid),
    ply: ply + (slid.changed ? 1 : 0),
  };
  const event = { kind: "nothing_moved", direction, points: position.score - score, spawn };
  return { slid, position, event: spawn ? { ...event, kind: "moved", motions: slid.motions } : event };
}

/** The score after a slide whose board already includes the new tile. */
export function scoreAfter(scoring, score, slid) {
  const points = scoreOf(scoring, slid);
  if (points !== null) return score + points;
  return slid.changed ? slid.board.flat().reduce((sum, tile) => sum + tile, 0) : score;
}

function emptyCells(board) {
  const all = board.flatMap((line, row) => line.map((_, column) => [row, column]));
  return all.filter(([row, column]) => !board[row][column]);
}

// The first empty cell of the edge that the tiles moved away from.
function edgeCells(board, direction) {
  const [rows, columns] = [board.length, board[0].length];
  const edges = {
    up: Array.from({ length: columns }, (_, index) => [rows - 1, columns - 1 - index]),
    down: Array.from({ length: columns }, (_, index) => [0, index]),
    left: Array.from({ length: rows }, (_, index) => [index, columns - 1]),
    right: Array.from({ length: rows }, (_, index) => [rows - 1 - index, 0]),
  };
  return edges[direction].filter(([row, column]) => !board[row][column]).slice(0, 1);
}
