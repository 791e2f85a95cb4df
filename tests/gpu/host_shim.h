// CUDA's words for the host: blocks run one after the other, the threads of a block take turns.
// A thread runs until it comes to __syncthreads; when all have come there, they go on.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define ON_HOST
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static

using std::exp;
using std::floor;
using std::fmin;
using std::fmax;
using std::log;

struct Three {
  unsigned x, y, z;
};
struct float4 {
  float x, y, z, w;
};
static Three blockIdx, threadIdx, blockDim, gridDim;

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }

static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __longlong_as_double(long long bits) {
  double found;
  std::memcpy(&found, &bits, 8);
  return found;
}
// As rough as the device's: off by a unit in the last place.
static inline float reciprocal(float x) { return 1.0f / x * (1.0f + 6e-8f); }

template <class Number>
static inline Number atomicAdd(Number* place, Number value) {
  Number before = *place;
  *place += value;
  return before;
}

static const int STACK = 1 << 16;
static std::vector<char> stacks;
static std::vector<ucontext_t> threads;
static ucontext_t scheduler;
static unsigned running;
static std::vector<char> ended;
static std::function<void()> body;

static inline void __syncthreads() {
  unsigned me = running;
  swapcontext(&threads[me], &scheduler);
  threadIdx.x = me;
}

static void run_thread() {
  body();
  ended[running] = 1;
  swapcontext(&threads[running], &scheduler);
}

static void run_block(unsigned size) {
  if (threads.size() < size) threads.resize(size), stacks.resize((size_t)size * STACK);
  ended.assign(size, 0);
  for (unsigned t = 0; t < size; t++) {
    getcontext(&threads[t]);
    threads[t].uc_stack.ss_sp = &stacks[(size_t)t * STACK];
    threads[t].uc_stack.ss_size = STACK;
    threads[t].uc_link = &scheduler;
    makecontext(&threads[t], run_thread, 0);
  }
  for (bool left = true; left;) {
    left = false;
    for (unsigned t = 0; t < size; t++)
      if (!ended[t]) {
        running = threadIdx.x = t;
        swapcontext(&scheduler, &threads[t]);
        left |= !ended[t];
      }
  }
}

static void run_grid(const unsigned* grid, unsigned size, std::function<void()> kernel) {
  body = kernel;
  blockDim = {size, 1, 1};
  gridDim = {grid[0], grid[1], grid[2]};
  for (unsigned z = 0; z < grid[2]; z++)
    for (unsigned y = 0; y < grid[1]; y++)
      for (unsigned x = 0; x < grid[0]; x++) {
        blockIdx = {x, y, z};
        run_block(size);
      }
}
