/* The baseline of the engine benchmarks: random games of 2048 with row tables.

   Boards are 64-bit words of sixteen 4-bit ranks. A slide looks up the four rows in a table; a
   vertical slide transposes the board before and after. Each step does everything that a batch of
   environments needs: it draws a legal direction, slides, counts the points, spawns a tile, tests
   whether the game is over, and replaces a finished game by a new one. The generator is SplitMix64.
   As in py2048, one draw decides the tile and the cell; its unused bits decide the direction.

   Usage: baseline GAMES BEFORE STEPS SEED. Plays BEFORE untimed steps of all games, so that games of
   all ages are in progress, then STEPS timed steps. Prints the seconds of the timed steps, the
   number of finished games and the sum of their scores. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

static uint16_t lines[2][65536]; /* each row after a slide to the left, to the right */
static uint32_t points[65536];
static uint8_t moves[65536]; /* bits: 1 if left changes the row, 2 if right does */

static uint16_t reverse(uint16_t row)
{
    return (uint16_t)(row << 12 | (row & 0xF0) << 4 | (row >> 4 & 0xF0) | row >> 12);
}

static void fill_tables(void)
{
    for (uint32_t row = 0; row < 65536; row++) {
        unsigned cells[4] = {row & 15, row >> 4 & 15, row >> 8 & 15, row >> 12};
        unsigned out[4] = {0, 0, 0, 0}, count = 0, open = 0, gained = 0;
        for (int i = 0; i < 4; i++) {
            if (!cells[i])
                continue;
            if (open == cells[i] && cells[i] < 15) {
                out[count - 1]++;
                gained += 1u << out[count - 1];
                open = 0;
            } else {
                out[count++] = open = cells[i];
            }
        }
        lines[0][row] = (uint16_t)(out[0] | out[1] << 4 | out[2] << 8 | out[3] << 12);
        points[row] = gained;
    }
    for (uint32_t row = 0; row < 65536; row++) {
        lines[1][row] = reverse(lines[0][reverse((uint16_t)row)]);
        moves[row] = (uint8_t)((lines[0][row] != row) | (lines[1][row] != row) << 1);
    }
}

static uint64_t transpose(uint64_t b)
{
    uint64_t t = (b ^ b >> 12) & 0x0000F0F00000F0F0u;
    b ^= t ^ t << 12;
    t = (b ^ b >> 24) & 0x00000000FF00FF00u;
    return b ^ t ^ t << 24;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static unsigned legal(uint64_t b, uint64_t t)
{
    unsigned across = moves[b & 65535] | moves[b >> 16 & 65535] | moves[b >> 32 & 65535] | moves[b >> 48];
    unsigned down = moves[t & 65535] | moves[t >> 16 & 65535] | moves[t >> 32 & 65535] | moves[t >> 48];
    return down | across << 2;
}

static uint64_t slide(const uint16_t *table, uint64_t b, uint32_t *gained)
{
    unsigned r0 = b & 65535, r1 = b >> 16 & 65535, r2 = b >> 32 & 65535, r3 = b >> 48;
    *gained = points[r0] + points[r1] + points[r2] + points[r3];
    return table[r0] | (uint64_t)table[r1] << 16 | (uint64_t)table[r2] << 32 | (uint64_t)table[r3] << 48;
}

/* Return the position of the set bit number `index`, counted from 0. */
static unsigned nth_bit(uint64_t mask, unsigned index)
{
#ifdef __BMI2__
    return (unsigned)__builtin_ctzll(_pdep_u64(1ull << index, mask));
#else
    while (index--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctzll(mask);
#endif
}

static uint64_t spawn(uint64_t b, uint64_t word)
{
    uint64_t free = b | b >> 2;
    free = ~(free | free >> 1) & 0x1111111111111111u;
    unsigned index = (unsigned)((word & 0xFFFFFFFFu) * (unsigned)__builtin_popcountll(free) >> 32);
    uint64_t rank = 1 + ((word >> 32) * 10 >> 32 >= 9);
    return b | rank << nth_bit(free, index);
}

static uint8_t nth[16][4]; /* legal directions by mask, in ascending order */

typedef struct {
    uint64_t counter, finished, total;
} Series;

static uint64_t next_draw(Series *series) { return mix(series->counter += 0x9E3779B97F4A7C15u); }

static Series play(Series series, size_t steps, size_t games, uint64_t *restrict boards,
                   uint64_t *restrict words, uint64_t *restrict scores)
{
    for (size_t s = 0; s < steps; s++) {
        for (size_t i = 0; i < games; i++) {
            uint64_t b = boards[i], t = transpose(b);
            unsigned mask = legal(b, t);
            if (!mask) {
                series.finished++;
                series.total += scores[i];
                scores[i] = 0;
                b = spawn(0, next_draw(&series));
                b = spawn(b, next_draw(&series));
                t = transpose(b);
                mask = legal(b, t);
            }
            unsigned pick = (unsigned)((words[i] >> 32 & 0xFFFF) * (unsigned)__builtin_popcount(mask) >> 16);
            unsigned direction = nth[mask][pick];
            uint64_t vertical = (uint64_t)(direction >> 1) - 1; /* all ones for up and down */
            uint32_t gained;
            b = slide(lines[direction & 1], b ^ ((b ^ t) & vertical), &gained);
            b ^= (b ^ transpose(b)) & vertical;
            scores[i] += gained;
            words[i] = next_draw(&series);
            boards[i] = spawn(b, words[i]);
        }
    }
    return series;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    size_t games = (size_t)atoll(argv[1]);
    Series series = {mix((uint64_t)atoll(argv[4])), 0, 0};
    uint64_t *boards = calloc(games, 8), *words = calloc(games, 8), *scores = calloc(games, 8);
    if (!boards || !words || !scores)
        return 1;
    for (unsigned mask = 0; mask < 16; mask++)
        for (unsigned d = 0, i = 0; d < 4; d++)
            if (mask >> d & 1)
                nth[mask][i++] = (uint8_t)d;
    fill_tables();
    for (size_t i = 0; i < games; i++) {
        words[i] = next_draw(&series);
        boards[i] = spawn(spawn(0, words[i]), mix(words[i]));
    }
    series = play(series, (size_t)atoll(argv[2]), games, boards, words, scores);
    series.finished = series.total = 0;
    double start = now();
    series = play(series, (size_t)atoll(argv[3]), games, boards, words, scores);
    printf("%.6f %llu %llu\n", now() - start, (unsigned long long)series.finished,
           (unsigned long long)series.total);
    return 0;
}
