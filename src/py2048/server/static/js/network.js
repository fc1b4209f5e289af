// A small n-tuple network, which values boards where there is no server.

export class Network {
  #step;
  #known;
  #weights; // whole numbers of steps
  #images;
  #tuples;
  #cells; // of all words
  #words;

  constructor({ step, known, images, words, tuples }, weights) {
    this.#step = step;
    this.#known = known;
    this.#weights = weights;
    this.#images = images;
    this.#tuples = Int32Array.from(tuples.flat());
    this.#cells = Uint8Array.from(words.flat());
    this.#words = new Int32Array(words.length);
  }

  /** Unpack the object that the script of `browser_script` in `ntuple/weights.py` sets. */
  static async unpack(layout) {
    const stream = new Blob([bytesOf(layout.weights)]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
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
    return this.#step * this.#sum(most <= this.#known ? ranks : downgraded(ranks, this.#known));
  }

  #sum(ranks) {
    const [weights, tuples, words, cells, images] = [this.#weights, this.#tuples, this.#words, this.#cells, this.#images];
    for (let word = 0, at = 0; word < words.length; word++, at += 8) {
      const low = ranks[cells[at]] | (ranks[cells[at + 1]] << 4) | (ranks[cells[at + 2]] << 8) | (ranks[cells[at + 3]] << 12);
      const high = ranks[cells[at + 4]] | (ranks[cells[at + 5]] << 4) | (ranks[cells[at + 6]] << 8) | (ranks[cells[at + 7]] << 12);
      words[word] = low | (high << 16);
    }
    let sum = 0;
    for (let at = 0; at < tuples.length; ) {
      const [first, number] = [tuples[at++], tuples[at++]];
      const [shift, mask, shift2, mask2, shift3, mask3] = [tuples[at++], tuples[at++], tuples[at++], tuples[at++], tuples[at++], tuples[at++]];
      for (let image = number; image < number + images; image++) {
        const word = words[image];
        const index = ((word >>> shift) & mask) | ((word >>> shift2) & mask2) | ((word >>> shift3) & mask3);
        sum += weights[first + index];
      }
    }
    return sum;
  }
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
  const most = Math.max(...ranks);
  if (most <= known) return ranks;
  let missing = most - 1;
  while (missing > 0 && ranks.includes(missing)) missing--;
  if (!missing) return ranks.map((rank) => Math.min(rank, known));
  return downgraded(ranks.map((rank) => rank - Number(rank > missing)), known);
}
