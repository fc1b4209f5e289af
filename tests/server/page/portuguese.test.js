import assert from "node:assert/strict";
import { test } from "node:test";
import { load, rulesText, useStorage } from "./browser.js";

useStorage();
globalThis.document = { documentElement: { lang: "pt" } };
await load("messages-pt");
const { begun } = await load("local");
const { OfflineGame } = await load("offline");
const { spokenTurn } = await load("speech");

test("Moves, undo and the end of a game without the server are told in Portuguese.", () => {
  const offline = new OfflineGame();
  offline.open(begun({ name: "1x3", text: rulesText(1, 3, "start=2x2:1,spawn=2:1,target=4"), summary: "" }));
  const said = [];
  let before = offline.game.board;
  const tell = ({ events, board, score }) => {
    said.push(...events.map((event) => event.say ?? spokenTurn(event, score, before)));
    before = board;
  };
  tell(offline.play("up"));
  const { legal } = offline.game;
  tell(offline.play(legal[0]));
  tell(offline.undo());
  tell(offline.redo());
  while (offline.game.outcome === "playing") tell(offline.play(offline.game.legal[0]));
  assert.equal(said[0], "Cima: nada se mexe.");
  assert.match(said[1], /^(Esquerda|Direita): juntou 2 e 2 em 4, mais 4\. Um 2 na linha 1, coluna \d\. Pontuação \d+\.$/);
  assert.equal(said[2], "Fez 4: ganhou.");
  assert.match(said[3], /^Desfeito: (esquerda|direita)\. Pontuação 0\.$/);
  assert.match(said.at(-1), /^Fim do jogo\. Pontuação \d+\.$/);
});
