// Moves of a game that one watches, from a few bytes each; see docs/reference/web-protocol.md.
import { parseRules, slide } from "./rules.js";

const DIRECTIONS = ["up", "down", "left", "right"];

/**
 * Return what a message would say of a step: the events and the position after it.
 * @param {ArrayBuffer} data the frame
 * @param {object} game the game before it
 * @returns {?object} null where the frame does not follow on the game
 */
export function stepMessage(data, game) {
  const [version, move, cell, ...points] = new Uint8Array(data);
  if (version !== (game.version + 1) % 256) return null;
  const direction = DIRECTIONS[move & 3];
  const slid = slide(game.board, direction, parseRules(game.rules.text).merging);
  if (!slid.changed) return null;
  const spawn = { tile: 2 ** (move >> 2), cell: [Math.floor(cell / game.rules.columns), cell % game.rules.columns] };
  const turn = { kind: "moved", direction, redone: false, points: unpacked(points), motions: slid.motions, spawn };
  const { board } = slid;
  board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
  const score = game.score + turn.points;
  turn.say = said(turn, score);
  return { version: game.version + 1, board, score, ply: game.ply + 1, outcome: "playing", events: [turn] };
}

function unpacked(groups) {
  const number = groups.reduceRight((sum, group) => sum * 128 + (group & 127), 0);
  return number % 2 ? -(number + 1) / 2 : number / 2;
}

function said({ direction, points, spawn }, score) {
  const name = direction[0].toUpperCase() + direction.slice(1);
  const change = points ? `, ${points > 0 ? "plus" : "minus"} ${Math.abs(points)}` : "";
  const a = String(spawn.tile).startsWith("8") ? "An" : "A";
  const [row, column] = spawn.cell;
  return `${name}${change}. ${a} ${spawn.tile} at row ${row + 1}, column ${column + 1}. Score ${score}.`;
}
