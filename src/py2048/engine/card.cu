// CUDA version of the rng.py generator, slides and the batch. cuda.py defines the RULE_ constants for given rules.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
#define INLINE __device__ __forceinline__

const u64 GOLDEN = 0x9E3779B97F4A7C15ull, START = 1ull << 63, SERIES = 1ull << 62;

INLINE u64 mix64(u64 word) {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ull;
  word = (word ^ word >> 27) * 0x94D049BB133111EBull;
  return word ^ word >> 31;
}
INLINE u64 draw(u64 key, u64 counter) { return mix64(key + (counter + 1) * GOLDEN); }
INLINE u64 key_of(u64 seed) { return mix64(seed + GOLDEN); }
INLINE u32 pick(u32 bits, u32 choices) { return (u32)((u64)bits * choices >> 32); }
INLINE u32 start_tiles(u64 key) {
  return RULE_START_LOW + pick((u32)(draw(key, START) >> 32), RULE_START_HIGH - RULE_START_LOW + 1);
}

// Slide a line towards a; return its points. A merge into the rank RULE_MOST or above adds LARGE.
const u32 LARGE = 1u << 28;
INLINE u32 joined(u32& a, u32& b, u32& c, u32& d) {
  ++a, b = c, c = d, d = 0;
  return a < RULE_MOST ? 1u << a : LARGE;
}
INLINE u32 slide(u32& a, u32& b, u32& c, u32& d) {
  u32 points = 0, none = 0;
  if (!c) c = d, d = 0;
  if (!b) b = c, c = d, d = 0;
  if (!a) a = b, b = c, c = d, d = 0;
  RULE_MERGE(a && a == b) points += joined(a, b, c, d);
  RULE_MERGE(b && b == c) points += joined(b, c, d, none);
  RULE_MERGE(c && c == d) points += joined(c, d, none, none);
  return points;
}

// --- the batch: one thread per game; _batch_kernels.py is the reference --------------------------------

const u32 CELLS = 16, NEXT_STEP = 1, DISABLED = 2;
enum { DIRECTION, LEGAL, DONE, ILLEGAL };                // rows of flags
enum { TERMINATED, TRUNCATED, FINAL_LEGAL };             // rows of ends
enum { STATE, SCORE, BANK, EPISODE, SLOT_KEY, LENGTH };  // rows of words

INLINE void exchange_vertical(u32* c, bool vertical) {
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
#pragma unroll
    for (u32 j = 0; j < i; ++j) {
      u32 x = c[4 * i + j], y = c[4 * j + i];
      c[4 * i + j] = vertical ? y : x, c[4 * j + i] = vertical ? x : y;
    }
}
INLINE u32 slide_board(u32* c, u32 direction) {
  bool backward = direction & 1;
  u32 points = 0;
  exchange_vertical(c, direction < 2);
#pragma unroll
  for (u32 i = 0; i < CELLS; i += 4) {
    u32 a = backward ? c[i + 3] : c[i], b = backward ? c[i + 2] : c[i + 1];
    u32 x = backward ? c[i + 1] : c[i + 2], y = backward ? c[i] : c[i + 3];
    points += slide(a, b, x, y);
    c[i] = backward ? y : a, c[i + 1] = backward ? x : b;
    c[i + 2] = backward ? b : x, c[i + 3] = backward ? a : y;
  }
  exchange_vertical(c, direction < 2);
  return points;
}
INLINE u32 pair_bits(u32 a, u32 b) {
  u32 both = a && a == b;
  return (both | (!a && b)) | (both | (a && !b)) << 1;
}
INLINE u32 legal_bits(const u32* c) {
  u32 bits = 0, won = 0;
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) {
    if (i < 12) bits |= pair_bits(c[i], c[i + 4]);
    if (i % 4 < 3) bits |= pair_bits(c[i], c[i + 1]) << 2;
    won |= RULE_TARGET && c[i] >= RULE_TARGET;
  }
  return won ? 0 : bits;
}
INLINE void place(u32* c, u32 low, u32 rank) {
  u32 free = 0;
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) free += !c[i];
  u32 index = pick(low, free);
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) {
    bool empty = !c[i];
    if (empty && !index) c[i] = rank;
    index -= empty;
  }
}
struct Played {
  u32 c[CELLS], legal, chance;
  u64 state, score, bank;
};
INLINE void enter(Played& game, u64 key) {
  game.state = key + GOLDEN, game.score = game.bank = 0, game.chance = (u32)(mix64(key) >> 32);
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) game.bank += RULE_SUM_POINTS && game.c[i] ? 1ull << game.c[i] : 0;
  game.legal = legal_bits(game.c);
}
INLINE void start(Played& game, u64 key) {
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) game.c[i] = 0;
  u32 tiles = start_tiles(key);
  for (u32 number = 0; number < tiles; ++number) {
    u64 word = draw(key, START + 1 + number);
    place(game.c, (u32)word, RULE_START_RANK(word >> 32));
  }
  enter(game, key);
}
INLINE u64 episode_key(const u64* words, u32 padded, u32 at) {
  return key_of(draw(words[SLOT_KEY * padded + at], SERIES + words[EPISODE * padded + at]));
}
INLINE u32 chosen(u32 legal, u32 chance) {
  u32 index = (chance & 0xFFFF) * __popc(legal) >> 16, direction = 0;
  for (; direction < 3; ++direction) {
    if (legal >> direction & 1 && !index--) break;
  }
  return direction;
}
// A turn in a direction; return the points.
INLINE int turn(Played& game, u32 direction, u32& is_illegal) {
  bool is_legal = game.legal >> direction & 1;
  is_illegal = game.legal && !is_legal;
  if (!is_legal) return is_illegal ? RULE_ILLEGAL_POINTS : 0;
  int points = RULE_MERGE_POINTS * (int)slide_board(game.c, direction) + RULE_LEGAL_POINTS;
  u64 word = mix64(game.state);
  u32 rank = RULE_SPAWN_RANK(word >> 32);
  game.state += GOLDEN, game.chance = (u32)(word >> 32);
  place(game.c, (u32)word, rank);
  if (RULE_SUM_POINTS) points += (int)game.bank + (1 << rank), game.bank = 0;
  game.legal = legal_bits(game.c);
  return points;
}

extern "C" __global__ void advance(
    u8* cells, u8* flags, u64* words, int* rewards, u8* last_cells, long long* last_scores,
    u8* ends, u64* tally, u32 games, u32 padded, u32 steps, u32 is_random, u32 reset, u32 is_terminal,
    u32 limit) {
  u32 at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= padded) return;
  Played game;
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) game.c[i] = cells[i * padded + at];
  game.state = words[STATE * padded + at], game.score = words[SCORE * padded + at];
  game.bank = words[BANK * padded + at], game.legal = flags[LEGAL * padded + at];
  game.chance = (u32)(mix64(game.state - GOLDEN) >> 32);
  u32 direction = flags[DIRECTION * padded + at], done = flags[DONE * padded + at], is_illegal = 0;
  u32 terminated = 0, truncated = 0, final_legal = 0;
  int points = 0;
  u64 length = words[LENGTH * padded + at], ended = 0, total = 0;
  for (u32 step = 0; step < steps; ++step) {
    bool was_over = done && reset;
    if (was_over) game.legal = 0;  // the episode may have ended before the game
    if (is_random) direction = chosen(game.legal, game.chance);
    points = turn(game, direction, is_illegal);
    game.score += (u64)(long long)points;
    final_legal = game.legal;
    terminated = (!game.legal && (!was_over || reset == DISABLED)) || (is_terminal && is_illegal);
    if (limit) length = was_over ? 0 : length + 1, truncated = length >= limit;
    done = terminated || truncated;
    if (game.legal && !done) continue;
    if (!was_over) {
      ++ended, total += game.score, last_scores[at] = (long long)game.score;
#pragma unroll
      for (u32 i = 0; i < CELLS; ++i) last_cells[at * CELLS + i] = (u8)game.c[i];
    }
    if (!reset || (reset == NEXT_STEP && was_over)) {
      if (limit) length = 0;
      ++words[EPISODE * padded + at];
      start(game, episode_key(words, padded, at));
    }
  }
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i) cells[i * padded + at] = (u8)game.c[i];
  words[STATE * padded + at] = game.state, words[SCORE * padded + at] = game.score;
  words[BANK * padded + at] = game.bank, words[LENGTH * padded + at] = length, rewards[at] = points;
  ends[TERMINATED * padded + at] = terminated, ends[TRUNCATED * padded + at] = truncated;
  ends[FINAL_LEGAL * padded + at] = final_legal;
  flags[DIRECTION * padded + at] = (u8)direction, flags[LEGAL * padded + at] = (u8)game.legal;
  flags[DONE * padded + at] = (u8)done, flags[ILLEGAL * padded + at] = (u8)is_illegal;
  if (ended && at < games) atomicAdd(tally, ended), atomicAdd(tally + 1, total);
}

extern "C" __global__ void enter_boards(
    const long long* slots, const u8* boards, u8* cells, u8* flags, u64* words, u8* last_cells,
    u32 count, u32 padded, u32 are_given) {
  u32 number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= count) return;
  u32 at = (u32)slots[number];
  Played game;
  ++words[EPISODE * padded + at];
  u64 key = episode_key(words, padded, at);
  if (are_given) {
#pragma unroll
    for (u32 i = 0; i < CELLS; ++i) game.c[i] = boards[number * CELLS + i];
    enter(game, key);
  } else {
    start(game, key);
  }
#pragma unroll
  for (u32 i = 0; i < CELLS; ++i)
    cells[i * padded + at] = last_cells[at * CELLS + i] = (u8)game.c[i];
  words[STATE * padded + at] = game.state, words[SCORE * padded + at] = game.score;
  words[BANK * padded + at] = game.bank, words[LENGTH * padded + at] = 0;
  flags[DIRECTION * padded + at] = flags[ILLEGAL * padded + at] = 0;
  flags[LEGAL * padded + at] = (u8)game.legal, flags[DONE * padded + at] = !game.legal;
}
