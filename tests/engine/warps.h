// What the CUDA sources of py2048 use of CUDA, for a C++ compiler: the 32 lanes of a warp take turns at each shuffle.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <ucontext.h>
#include <vector>
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
struct Place { unsigned x; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline Place blockIdx{0}, blockDim{32}, threadIdx{0};
inline ucontext_t lanes[32], after_warp;
inline char stacks[32][1 << 16];
inline uint64_t shared[2][32];
inline unsigned rounds[32];
inline int lines[2];
template <class T> T __shfl_sync(unsigned, T value, unsigned source, int line = __builtin_LINE()) {
  unsigned lane = threadIdx.x, round = rounds[lane]++ & 1;
  if (lane == 0) lines[round] = line;
  if (line != lines[round]) {  // on a card the values of these lanes are undefined
    std::fprintf(stderr, "lane %u shuffles in line %d, lane 0 in line %d\n", lane, line, lines[round]);
    std::abort();
  }
  std::memcpy(&shared[round][lane], &value, sizeof value);
  threadIdx.x = (lane + 1) % 32;
  swapcontext(&lanes[lane], &lanes[(lane + 1) % 32]);
  std::memcpy(&value, &shared[round][source % 32], sizeof value);
  return value;
}
template <class T> T __shfl_xor_sync(unsigned all, T value, unsigned mask, int line = __builtin_LINE()) {
  return __shfl_sync(all, value, threadIdx.x ^ mask, line);
}
template <class T> T __ldcg(const T* at) { return *at; }
template <class T> T as(uint32_t bits) { T value; std::memcpy(&value, &bits, 4); return value; }
inline float __uint_as_float(unsigned bits) { return as<float>(bits); }
inline float __int_as_float(int bits) { return as<float>(bits); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(uint64_t x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
template <class T> T atomicAdd(T* at, T value) { T old = *at; *at += value; return old; }
template <class T> T atomicExch(T* at, T value) { T old = *at; *at = value; return old; }
inline void (*work)(void*);
inline void* given;
inline void lane_main() {
  work(given);
  unsigned lane = threadIdx.x++;
  if (lane < 31) setcontext(&lanes[lane + 1]);
  setcontext(&after_warp);
}
template <class F> void run_threads(unsigned threads, F body) {
  work = [](void* f) { (*(F*)f)(); }, given = &body;
  for (blockIdx.x = 0; blockIdx.x * 32 < threads; ++blockIdx.x) {
    threadIdx.x = 0;
    volatile bool done = false;
    for (int lane = 0; lane < 32; ++lane) {
      rounds[lane] = 0;
      getcontext(&lanes[lane]);
      lanes[lane].uc_stack.ss_sp = stacks[lane], lanes[lane].uc_stack.ss_size = sizeof stacks[lane];
      makecontext(&lanes[lane], lane_main, 0);
    }
    getcontext(&after_warp);
    if (!done) done = true, setcontext(&lanes[0]);
  }
}
template <auto> struct Kernel;
template <class... A, void (*F)(A...)> struct Kernel<F> {
  static void run(unsigned threads, A... a) { run_threads(threads, [&] { F(a...); }); }
};
// KERNEL(play) makes run_play, with the number of threads first.
#define KERNEL(name) extern "C" auto* const run_##name = &Kernel<name>::run; \
  extern "C" const void* address_of_##name() { return (const void*)run_##name; }
