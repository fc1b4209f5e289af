// A web worker that judges moves without blocking the page. Its first message has the rules and the
// network. Newer requests take precedence, and a hint replaces an unfinished one.
import { Coaching } from "./coaching.js";
import { Network } from "./network.js";
import { Playouts } from "./playouts.js";
import { parseRules } from "./rules.js";

/** @type {{id: number, type: string, steps: Iterator<?object, ?object>}[]} */
const jobs = [];
/** @type {Coaching} */
let coaching;

addEventListener("message", async ({ data: { id, type, ...facts } }) => {
  if (type === "network") {
    const rules = parseRules(facts.rules);
    const playouts = new Playouts(rules, await Network.unpack(facts.network));
    coaching = new Coaching(rules, playouts, facts.network.levels);
    postMessage({ type: "ready" });
    return;
  }
  const outdated = type === "hint" ? jobs.findIndex((job) => job.type === type) : -1;
  if (outdated >= 0) answer(jobs[outdated], { value: null, done: true });
  jobs.push({ id, type, steps: coaching[type](facts) });
  if (jobs.length === 1) work();
});

async function work() {
  while (jobs.length) {
    const job = jobs.at(-1);
    answer(job, /** @type {any} */ (job.steps.next()));
    await new Promise((resume) => setTimeout(resume)); // for new requests to arrive
  }
}

function answer(job, { value, done = false }) {
  if (value || done) postMessage({ id: job.id, answer: value, isDone: done });
  if (done) jobs.splice(jobs.indexOf(job), 1);
}
