// CUDA's words for the host: blocks run one after the other, the threads of a block take turns.
// A thread runs until it comes to __syncthreads; when all have come there, they go on.
#include <setjmp.h>
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
static inline long long __double_as_longlong(double number) {
  long long found;
  std::memcpy(&found, &number, 8);
  return found;
}
static inline float __saturatef(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }
// As rough as the device's: off by a unit in the last place.
static inline float reciprocal(float x) { return 1.0f / x * (1.0f + 6e-8f); }

template <class Number>
static inline Number atomicAdd(Number* place, Number value) {
  Number before = *place;
  *place += value;
  return before;
}

// Every thread has a stack of its own and lives as long as the process: contexts are made once, and
// after that a turn is a jump without a system call.
struct Thread {
  std::vector<char> stack = std::vector<char>(1 << 17);
  ucontext_t context;
  jmp_buf place;
  bool begun = false, ended = true;
};
static std::vector<Thread*> threads;
static jmp_buf scheduler;
static unsigned running;
static std::function<void()> body;

static void take_turns() {
  unsigned me = running;
  if (!_setjmp(threads[me]->place)) _longjmp(scheduler, 1);
  threadIdx.x = me;
}

static inline void __syncthreads() { take_turns(); }

static void run_thread() {
  for (;;) {
    body();
    threads[running]->ended = true;
    take_turns();
  }
}

static void go_on(unsigned t) {
  Thread* thread = threads[t];
  running = threadIdx.x = t;
  if (_setjmp(scheduler)) return;
  if (thread->begun) _longjmp(thread->place, 1);
  thread->begun = true;
  getcontext(&thread->context);
  thread->context.uc_stack.ss_sp = thread->stack.data();
  thread->context.uc_stack.ss_size = thread->stack.size();
  makecontext(&thread->context, run_thread, 0);
  setcontext(&thread->context);
}

static void run_block(unsigned size) {
  while (threads.size() < size) threads.push_back(new Thread);
  for (unsigned t = 0; t < size; t++) threads[t]->ended = false;
  for (volatile bool left = true; left;) {
    left = false;
    for (volatile unsigned t = 0; t < size; t = t + 1)
      if (!threads[t]->ended) {
        go_on(t);
        left = left | !threads[t]->ended;
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
