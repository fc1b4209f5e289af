/* The baseline of the environment benchmark: an environment in the usual style of C environments.

   Each game is a struct whose board has sixteen bytes. A step slides line by line, spawns a tile,
   finds the legal moves, and writes the observation, the action mask, the reward and the end flag.
   The step after the end of a game begins a new one. The generator is SplitMix64, with one draw per
   spawn. */

#include <stdint.h>
#include <string.h>

typedef struct {
    uint8_t board[16];
    uint64_t state;
    int64_t score;
    int over;
} Game;

static uint64_t draw(Game *game)
{
    uint64_t z = game->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void spawn(Game *game)
{
    int empty[16], count = 0;
    for (int cell = 0; cell < 16; cell++)
        if (!game->board[cell])
            empty[count++] = cell;
    uint64_t word = draw(game);
    int cell = empty[(word & 0xFFFFFFFFu) * (uint64_t)count >> 32];
    game->board[cell] = 1 + ((word >> 32) * 10 >> 32 >= 9);
}

static void begin(Game *game)
{
    memset(game->board, 0, 16);
    game->score = 0;
    game->over = 0;
    spawn(game);
    spawn(game);
}

static int slide(uint8_t *board, int direction, int32_t *points)
{
    int vertical = direction < 2, backward = direction & 1, moved = 0;
    int step = vertical ? 4 : 1, stride = vertical ? 1 : 4;
    for (int line = 0; line < 4; line++) {
        int first = line * stride + (backward ? 3 * step : 0), way = backward ? -step : step;
        int target = first, open = 0;
        for (int i = 0, cell = first; i < 4; i++, cell += way) {
            int rank = board[cell];
            if (!rank)
                continue;
            if (rank == open) {
                board[cell] = 0;
                board[target - way] = (uint8_t)(rank + 1);
                *points += 1 << (rank + 1);
                open = 0;
                moved = 1;
                continue;
            }
            if (cell != target) {
                board[cell] = 0;
                board[target] = (uint8_t)rank;
                moved = 1;
            }
            open = rank;
            target += way;
        }
    }
    return moved;
}

static uint32_t legal(const uint8_t *board)
{
    uint32_t mask = 0;
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 3; column++) {
            int a = board[4 * row + column], b = board[4 * row + column + 1];
            mask |= (uint32_t)(b && (!a || a == b)) << 16 | (uint32_t)(a && (!b || a == b)) << 24;
            a = board[4 * column + row], b = board[4 * column + row + 4];
            mask |= (uint32_t)(b && (!a || a == b)) | (uint32_t)(a && (!b || a == b)) << 8;
        }
    }
    return mask;
}

uint64_t game_size(void) { return sizeof(Game); }

void reset_all(Game *games, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        games[i].state = seed + (uint64_t)i * 0xD1342543DE82EF95u;
        begin(&games[i]);
    }
}

void step_all(Game *games, int64_t count, const int64_t *actions, uint8_t *boards, uint32_t *masks,
              double *rewards, uint8_t *ends)
{
    for (int64_t i = 0; i < count; i++) {
        Game *game = &games[i];
        int32_t points = 0;
        if (game->over)
            begin(game);
        else if (slide(game->board, (int)actions[i], &points))
            spawn(game);
        uint32_t mask = legal(game->board);
        game->score += points;
        game->over = !mask;
        memcpy(boards + 16 * i, game->board, 16);
        masks[i] = mask;
        rewards[i] = points;
        ends[i] = (uint8_t)!mask;
    }
}
