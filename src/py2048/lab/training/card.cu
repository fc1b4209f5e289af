// Learning of n-tuple networks on 4x4 boards, for CUDA; compiled after ../../engine/card.cu, which has the generator and
// the slides. _card_kernels.py says what is computed, bit for bit, and what its names mean.
//
// A warp plays a game. Lane = 8 * direction + symmetry: each lane slides one row in its direction, the rows are joined
// by shuffles, and each lane fetches the weights of one image of its direction's afterstate. In an update,
// lane = 8 * quarter of the tuples + symmetry. Own and Below, of the network that learns and of that below a band, are
// made by card.py: TUPLES is their number, KNOWN the largest rank that has weights. RULE_STARTS boards are saved for a
// band; RULE_VIEW and RULE_ABOVE say how its boards and those of the band above are valued. Without any, it is one table.

struct Game {
  u64 board, key, early, late, updated, waiting, played, number;
  u32 moves, score;
  u8 state, count, head, whole;
  float fixed;
};
struct Pending {
  u64 after;
  float reward, value;
};
struct View {
  u32 rank;  // of the tile that ends the band
  int least;
  double level, slope;
  float goal, step;
};
struct Choice {
  u64 after;
  float gained, value, fixed;
  bool passes;
};
struct alignas(16) Learning {
  u64 sum;
  float balance, size;
};
enum { PLAYING, IDLE, DEAD, PASSED };
enum { FINISHED, SUM, SQUARES, RANKS_FROM, PASSES = 19, RESULTS };
const u32 RING = 8, ALL = 0xFFFFFFFFu, COUNTS = (1u << 20) - 1, PARTS = (Own::TUPLES + 3) / 4;
const u32 MADE = 1u << 20, TOO_LARGE = 1u << 24;  // in points, for each row with the tile, and with one of rank 16
const float RESOLUTION = 64.0f, MAX_ERROR = 131072.0f;

INLINE u64 transpose(u64 x) {
  u64 swap = (x ^ x >> 12) & 0x0000F0F00000F0F0ull;
  x ^= swap ^ swap << 12;
  swap = (x ^ x >> 24) & 0x00000000FF00FF00ull;
  return x ^ swap ^ swap << 24;
}
INLINE u64 mirror(u64 x) {
  x = (x & 0x00FF00FF00FF00FFull) << 8 | (x >> 8 & 0x00FF00FF00FF00FFull);
  return (x & 0x0F0F0F0F0F0F0F0Full) << 4 | (x >> 4 & 0x0F0F0F0F0F0F0F0Full);
}
INLINE u64 flip(u64 x) {
  x = x << 32 | x >> 32;
  return (x & 0x0000FFFF0000FFFFull) << 16 | (x >> 16 & 0x0000FFFF0000FFFFull);
}
INLINE u64 image(u32 symmetry, u64 x) {
  if (symmetry & 1) x = mirror(x);
  if (symmetry & 2) x = flip(x);
  return symmetry & 4 ? transpose(x) : x;
}
INLINE u64 spawned(u64 board, u32 low, u64 rank) {
  u64 free = board | board >> 2;
  free = ~(free | free >> 1) & 0x1111111111111111ull;
  for (u32 index = pick(low, __popcll(free)); index; --index) free &= free - 1;
  return board | (free & (~free + 1)) * rank;
}
// The ranks on a board, a bit for each, in eight lanes at a time.
INLINE u32 ranks_of(u64 board, u32 lane) {
  u32 at = 8 * (lane & 7), seen = 1u << (board >> at & 15) | 1u << (board >> (at + 4) & 15);
  seen |= __shfl_xor_sync(ALL, seen, 1), seen |= __shfl_xor_sync(ALL, seen, 2);
  return seen | __shfl_xor_sync(ALL, seen, 4);
}
INLINE u32 sum_of(u64 board, u32 lane) {
  u32 at = 8 * (lane & 7), sum = (1u << (board >> at & 15) & ~1u) + (1u << (board >> (at + 4) & 15) & ~1u);
  sum += __shfl_xor_sync(ALL, sum, 1), sum += __shfl_xor_sync(ALL, sum, 2);
  return sum + __shfl_xor_sync(ALL, sum, 4);
}
// A board with ranks up to KNOWN: layout.downgraded is the reference.
template <class Network> INLINE u64 known(u64 board, u32 lane) {
  const u32 most = Network::KNOWN;
  if (most >= 15) return board;
  u32 seen = ranks_of(board, lane), removed = 0;
  if (seen >> most <= 1) return board;
  int rank = 31 - __clz(seen), excess = rank - (int)most;
  for (; excess > 0 && rank > 1;)
    if (!(seen >> --rank & 1)) removed |= 1u << rank, --excess;
  u64 word = 0;
  for (u32 at = 0; at < 64; at += 4) {
    u32 before = board >> at & 15, after = before - __popc(removed & ((1u << before) - 1));
    word |= (u64)(after < most ? after : most) << at;
  }
  return word;
}
INLINE float sum_of_images(float value) {
  value += __shfl_xor_sync(ALL, value, 1);
  value += __shfl_xor_sync(ALL, value, 2);
  return value + __shfl_xor_sync(ALL, value, 4);
}
template <class Network, class Weight> INLINE float value_of(const Weight* weights, u64 x) {
  u32 at[Network::TUPLES];
  float found[Network::TUPLES], value = 0;
  Network::indices(x, at);
#pragma unroll
  for (u32 i = 0; i < Network::TUPLES; ++i) found[i] = (float)weights[at[i]];
#pragma unroll
  for (u32 i = 0; i < Network::TUPLES; ++i) value += found[i];
  return value;
}
// The indices that a lane has in an update; the last may be missing.
INLINE void own_indices(u64 board, u32 lane, u32* own) {
  u32 at[Own::TUPLES], quarter = lane >> 3;
  Own::indices(image(lane & 7, known<Own>(board, lane)), at);
#pragma unroll
  for (u32 i = 0; i < Own::TUPLES; ++i)
    if (quarter == i % 4) own[i / 4] = at[i];
}
INLINE bool has(u32 part, u32 lane) { return 4 * part + (lane >> 3) < Own::TUPLES; }

// The best afterstate of a board, 0 if there is none; its points, the learnt and the fixed part of its value.
INLINE Choice choose(
    const float* weights, const Below::Weight* below, const short* above, u64 board, u32 sum, u32 lane) {
  bool is_above = RULE_STARTS && sum >= RULE_END;
  const View view = is_above ? View RULE_ABOVE : View RULE_VIEW;
  u32 direction = lane >> 3, row = lane & 3, at = 16 * (row & 1);
  u64 turned = direction < 2 ? transpose(board) : board;
  if (direction & 1) turned = mirror(turned);
  u32 line = turned >> 16 * row & 0xFFFF;
  u32 a = line & 15, b = line >> 4 & 15, c = line >> 8 & 15, d = line >> 12;
  u32 points = slide(a, b, c, d);
  if ((a | b | c | d) & 16) points += TOO_LARGE;
  if (RULE_STARTS && (a == view.rank || b == view.rank || c == view.rank || d == view.rank)) points += MADE;
  line = (a & 15) | (b & 15) << 4 | (c & 15) << 8 | (d & 15) << 12;
  u32 low = row < 2 ? line << at : 0, high = row < 2 ? 0 : line << at;
#pragma unroll
  for (u32 i = 1; i <= 2; ++i) {
    low |= __shfl_xor_sync(ALL, low, i), high |= __shfl_xor_sync(ALL, high, i);
    points += __shfl_xor_sync(ALL, points, i);
  }
  u64 after = (u64)high << 32 | low;
  if (direction & 1) after = mirror(after);
  if (direction < 2) after = transpose(after);
  u32 gained = points & (MADE - 1);
  bool passes = RULE_STARTS && points & 15 * MADE && gained >= 1u << view.rank;
  bool is_legal = after != board && (passes || points < TOO_LARGE), is_valued = is_legal && !passes;
  u64 shown = image(lane & 7, known<Own>(after, lane));
  float worth = 0, fixed = 0;
  if (is_valued) worth = is_above ? value_of<Own>(above, shown) : value_of<Own>(weights, shown);
  if (RULE_STARTS) {
    shown = image(lane & 7, known<Below>(after, lane));
    fixed = sum_of_images(is_valued ? value_of<Below>(below, shown) : 0.0f);
    double rest = (double)fixed * RULE_STEP - view.level;
    fixed = passes ? 0.0f : (float)(rest - view.slope * (double)((int)sum - view.least));
  }
  worth = sum_of_images(worth) * view.step;  // by all lanes, also those of a direction that passes
  if (passes) worth = view.goal;
  float total = is_legal ? (float)gained + (fixed + worth) : -__int_as_float(0x7F800000);
  u32 best = direction;
#pragma unroll
  for (u32 i = 8; i <= 16; i *= 2) {
    float other = __shfl_xor_sync(ALL, total, i);
    u32 theirs = __shfl_xor_sync(ALL, best, i);
    if (other > total || (other == total && theirs < best)) total = other, best = theirs;
  }
  best *= 8;
  if (!__shfl_sync(ALL, (u32)is_legal, best)) return Choice{};
  Choice choice{__shfl_sync(ALL, after, best), (float)__shfl_sync(ALL, gained, best), __shfl_sync(ALL, worth, best)};
  if (RULE_STARTS) {
    choice.fixed = __shfl_sync(ALL, fixed, best);
    choice.passes = is_above || __shfl_sync(ALL, (u32)passes, best);
  }
  return choice;
}
INLINE void begin_game(Game& game, u32 place, const u64* starts, u64 root, u32 once) {
  u64 key = key_of(draw(root, SERIES + place));
  if (!once) key = key_of(draw(key, SERIES + game.number));
  game.whole = !game.waiting, game.board = game.waiting, game.waiting = 0;
  if (RULE_STARTS && game.whole) game.board = starts[pick((u32)draw(key, START), RULE_STARTS)];
  u32 tiles = game.whole && !RULE_STARTS ? start_tiles(key) : 0;
  for (u32 number = 0; number < tiles; ++number) {
    u64 word = draw(key, START + 1 + number);
    game.board = spawned(game.board, (u32)word, RULE_START_RANK(word >> 32));
  }
  game.early = game.late = game.board, game.key = key;
  game.moves = game.score = game.state = game.count = game.head = 0, game.fixed = 0;
}

extern "C" __global__ void __launch_bounds__(128, 8) play(
    const float* __restrict__ weights, Learning* learning, Game* games, Pending* ring,
    const Below::Weight* __restrict__ below, const short* __restrict__ above, float lambda, u32 delay,
    u32 is_learning, u32 active) {
  u32 place = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (place >= active) return;
  Game game = games[place];
  Pending* waiting = ring + (u64)place * RING;
  u32 head = game.head, count = game.count, own[PARTS];
  bool was_over = game.state != PLAYING, learns = count == delay || (was_over && count);
  float found[PARTS], reward = 0, latest = game.fixed;
  game.updated = learns ? waiting[head].after : 0;
  if (learns) {  // these weights and those of the moves are fetched together
    own_indices(game.updated, lane, own);
#pragma unroll
    for (u32 i = 0; i < PARTS; ++i) found[i] = has(i, lane) ? weights[own[i]] : 0.0f;
  }
  Choice choice{};
  if (!was_over) {
    choice = choose(weights, below, above, game.board, RULE_STARTS ? sum_of(game.board, lane) : 0, lane);
    reward = choice.gained + (choice.fixed - game.fixed), latest = reward + choice.value;
    if (choice.passes || !choice.after) game.state = choice.passes ? PASSED : DEAD, choice.after = 0;
  }
  game.fixed = choice.after ? choice.fixed : latest;
  if (learns) {
    float target = latest, before = 0;
    for (u32 step = count - 1; step; --step) {
      Pending later = waiting[(head + step) % RING];
      target = (later.reward + (1.0f - lambda) * later.value) + lambda * target;
    }
    head = (head + 1) % RING, --count;
#pragma unroll
    for (u32 i = 0; i < PARTS; ++i) before += found[i];
    before = sum_of_images(before);
    before += __shfl_xor_sync(ALL, before, 8);
    before += __shfl_xor_sync(ALL, before, 16);
    float error = fminf(fmaxf(target - before, -MAX_ERROR), MAX_ERROR);
    u64 units = ((u64)(long long)rintf(error * RESOLUTION) << 20) + 1;
#pragma unroll
    for (u32 i = 0; i < PARTS; ++i)
      if (has(i, lane)) atomicAdd(&learning[own[i]].sum, units);
  }
  if (choice.after) {
    if (is_learning) {
      if (lane == 0) waiting[(head + count) % RING] = Pending{choice.after, reward, choice.value};
      ++count;
    }
    u64 word = draw(game.key, game.moves);
    game.board = spawned(choice.after, (u32)word, RULE_SPAWN_RANK(word >> 32));
    game.score += (u32)choice.gained, ++game.moves, ++game.played;
    if (!(game.moves & (game.moves - 1))) game.early = game.late, game.late = game.board;
  }
  game.head = (u8)head, game.count = (u8)count;
  if (lane == 0) games[place] = game;
}

// A weight that others have changed is seen by a plain load; the exchange decides among those who come at once.
INLINE void change_weight(float* weights, Learning* learning, u32 at, float rate) {
  uint4 met = __ldcg((const uint4*)(learning + at));
  if (!(met.x & COUNTS)) return;
  float weight = __ldcg(weights + at);
  u64 sum = atomicExch(&learning[at].sum, 0ull);
  u32 count = (u32)sum & COUNTS;
  if (!count) return;
  float error = (float)((long long)(sum - count) >> 20) / ((float)count * RESOLUTION);
  float balance = __uint_as_float(met.z), size = __uint_as_float(met.w);
  float coherence = size > 0 ? fabsf(balance) / size : 1.0f;
  weights[at] = weight + rate * coherence * error * (1.0f / (8 * Own::TUPLES));
  balance += error, size += fabsf(error);
  if (size > 16777216.0f) balance *= 0.5f, size *= 0.5f;
  *(float2*)&learning[at].balance = make_float2(balance, size);
}
INLINE void end_game(
    Game& game, u64* result, const u64* starts, u32 place, u64 root, u32 length, u64 from, u32 once) {
  if (game.whole) {
    u32 rank = 0;
    for (u32 at = 0; at < 64; at += 4)
      rank = rank > (game.board >> at & 15) ? rank : (u32)(game.board >> at & 15);
    ++result[FINISHED], result[SUM] += game.score, result[SQUARES] += (u64)game.score * game.score;
    ++result[RANKS_FROM + rank], result[PASSES] += game.state == PASSED;
  }
  game.number += game.key > 0;
  if (game.key && once) {
    game.state = IDLE;
    return;
  }
  if (length && game.moves > length && game.played >= from) {
    u32 power = 1u << (31 - __clz(game.moves));
    game.waiting = game.moves < power + power / 2 ? game.early : game.late;
  }
  begin_game(game, place, starts, root, once);
}

extern "C" __global__ void __launch_bounds__(128, 12) learn(
    float* weights, Learning* learning, Game* games, u64* results, const u64* starts, u64 root, float rate,
    u32 restart_length, u64 restart_after, u32 once, u32 active) {
  u32 place = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31, own[PARTS];
  if (place >= active) return;
  u64 updated = games[place].updated;
  bool is_over = games[place].state >= DEAD && !games[place].count;
  if (updated) {
    own_indices(updated, lane, own);
#pragma unroll
    for (u32 i = 0; i < PARTS; ++i)
      if (has(i, lane)) change_weight(weights, learning, own[i], rate);
  }
  if (is_over && lane == 0)
    end_game(
        games[place], results + place * RESULTS, starts, place, root, restart_length, restart_after, once);
}
