// A small n-tuple network, which values boards where there is no server.

const WORD_CELLS = 8; // at four bits a cell
const MAX_RUNS = 3;
const FIELDS = 2 + 2 * MAX_RUNS; // of a tuple

export class Network {
  #step;
  #known;
  #weights; // whole numbers of steps
  #images; // the number of symmetric images
  #gathered; // the cells of each word, image by image for each group of words
  #words;
  #tuples; // for each one its first weight, its group of words, and shift and mask of its runs of cells

  constructor({ known, step, images, tuples }, weights) {
    this.#step = step;
    this.#known = known;
    this.#weights = weights;
    this.#images = images.length;
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    const fields = tuples.map(([first, cells]) => {
      const { places, runs } = runsOf(cells, images[0].length);
      if (!groups.has(String(places))) groups.set(String(places), places);
      return [first, [...groups.keys()].indexOf(String(places)), ...runs];
    });
    const none = images[0].length; // the cell after the last, which is empty
    const gathered = [...groups.values()].flatMap((places) => images.map((image) => places.map((place) => image[place] ?? none)));
    this.#gathered = Uint8Array.from(gathered.flat());
    this.#words = new Int32Array(gathered.length);
    this.#tuples = Int32Array.from(fields.flat());
  }

  /** Unpack the object that the script of `browser_script` in `ntuple/weights.py` sets. */
  static async unpack({ weights, ...layout }) {
    const packed = new Blob([bytesOf(weights)]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
    const steps = new Int16Array(bytes.length / 2);
    for (let index = 0; index < steps.length; index++) {
      // Low bytes come first, then high bytes; together they are zigzag-encoded.
      const zigzag = bytes[index] | (bytes[index + steps.length] << 8);
      steps[index] = (zigzag >> 1) ^ -(zigzag & 1);
    }
    return new Network(layout, steps);
  }

  /**
   * The expected future points after a slide, before the next tile appears.
   * @param {Uint8Array} ranks of the cells, row by row, followed by a 0
   */
  value(ranks) {
    let most = 0;
    for (let cell = 0; cell < ranks.length; cell++) if (ranks[cell] > most) most = ranks[cell];
    return this.#steps(most <= this.#known ? ranks : downgraded(ranks, this.#known)) * this.#step;
  }

  #steps(ranks) {
    const [weights, gathered, words, tuples, images] = [this.#weights, this.#gathered, this.#words, this.#tuples, this.#images];
    for (let number = 0, at = 0; number < words.length; number++, at += WORD_CELLS) {
      let word = 0;
      for (let place = 0; place < WORD_CELLS; place++) word |= ranks[gathered[at + place]] << (4 * place);
      words[number] = word;
    }
    let steps = 0;
    for (let at = 0; at < tuples.length; at += FIELDS) {
      const first = tuples[at];
      const [shift, mask] = [tuples[at + 2], tuples[at + 3]];
      const [shift2, mask2] = [tuples[at + 4], tuples[at + 5]];
      const [shift3, mask3] = [tuples[at + 6], tuples[at + 7]];
      const end = (tuples[at + 1] + 1) * images;
      for (let number = end - images; number < end; number++) {
        const word = words[number];
        const index = ((word >>> shift) & mask) | ((word >>> shift2) & mask2) | ((word >>> shift3) & mask3);
        steps += weights[first + index];
      }
    }
    return steps;
  }
}

// The places on the board that a word gathers for a tuple, and shift and mask of each of its runs of
// cells. Many tuples share the word of two rows.
function runsOf(cells) {
  const first = 4 * Math.floor(cells[0] / 4);
  const places = Array.from({ length: WORD_CELLS }, (_, place) => first + place);
  const runs = [];
  for (const [index, cell] of cells.entries()) {
    if (cell !== cells[index - 1] + 1) runs.push(4 * (cell - first - index), 0);
    runs[runs.length - 1] |= 15 << (4 * index);
  }
  while (runs.length < 2 * MAX_RUNS) runs.push(0, 0);
  if (runs.length === 2 * MAX_RUNS && cells.at(-1) < first + WORD_CELLS) return { places, runs };
  return { places: [...cells, ...Array(WORD_CELLS - cells.length).fill(Infinity)], runs: [0, ~0, 0, 0, 0, 0] };
}

// A plain loop: Uint8Array.from with a function takes 25 times as long.
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

// Lower ranks above the known ones by skipping the largest missing rank, as `downgraded` in
// `ntuple/layout.py`.
function downgraded(ranks, known) {
  let most = 0;
  for (let cell = 0; cell < ranks.length; cell++) if (ranks[cell] > most) most = ranks[cell];
  if (most <= known) return ranks;
  let missing = most - 1;
  while (missing > 0 && ranks.includes(missing)) missing--;
  if (!missing) return ranks.map((rank) => Math.min(rank, known));
  return downgraded(ranks.map((rank) => rank - Number(rank > missing)), known);
}
