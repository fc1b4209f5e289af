/* PufferLib's 2048, included from its source and stepped in the same way as by its Python binding,
   but without its window. */

#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char r, g, b, a;
} Color;

#define KEY_ESCAPE 0
#define BeginDrawing()
#define ClearBackground(...)
#define CloseWindow()
#define DrawRectangle(...)
#define DrawText(...)
#define EndDrawing()
#define InitWindow(...)
#define IsKeyDown(...) 0
#define IsWindowReady() 0
#define SetTargetFPS(...)
#include "g2048.h"

uint64_t game_size(void) { return sizeof(Game); }

void reset_all(Game *games, int64_t count, uint8_t *boards, int32_t *actions, float *rewards,
               uint8_t *ends)
{
    for (int64_t i = 0; i < count; i++) {
        games[i].observations = boards + 16 * i;
        games[i].actions = actions + i;
        games[i].rewards = rewards + i;
        games[i].terminals = ends + i;
        c_reset(&games[i]);
    }
}

void step_all(Game *games, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        c_step(&games[i]);
}
