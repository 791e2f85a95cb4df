// What all kernels share.  CLASSES is defined by whoever compiles this.
//
// Lines lie in words of 32: all lines of a word have one true class and read one set of tables.  The
// last word of such a run may have lines that are none: `valid` has a bit for every line that is one.
// A column of 0 and 1 is kept as bits, [word][column]; any other column as bytes, [column][line].

typedef long long Int64;
typedef unsigned long long UInt64;

// Threads of a block in every kernel that adds up over lines.
#define THREADS 256

// The criteria, numbered as on the host.
#define ERROR 0
#define PROBABILITY 1

#define UNROLL _Pragma("unroll")

#ifndef ON_HOST
// An approximation that is off by one unit in the last place; scans know that.
__device__ __forceinline__ float reciprocal(float x) {
  float found;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(found) : "f"(x));
  return found;
}
#endif

__device__ __forceinline__ Int64 this_thread() {
  return (Int64)blockIdx.x * THREADS + threadIdx.x;
}

// The code of a line: of a bit column (place >= 0), or of byte column -1 - place.
__device__ __forceinline__ int code_of(const unsigned* bits, const unsigned char* codes, int place,
                                       int n_bits, Int64 n, Int64 line) {
  if (place >= 0) return bits[(line >> 5) * n_bits + place] >> (line & 31) & 1;
  return codes[(Int64)(-1 - place) * n + line];
}

// The sum over all threads of a block, told to the first of them.
template <class Number>
__device__ Number add_threads(Number mine) {
  __shared__ Number kept[THREADS];
  kept[threadIdx.x] = mine;
  __syncthreads();
  for (int half = THREADS / 2; half; half /= 2) {
    if (threadIdx.x < half) kept[threadIdx.x] += kept[threadIdx.x + half];
    __syncthreads();
  }
  return kept[0];
}

// Panels of bit columns come [column][word]; scans read [word][column].
extern "C" __global__ void turn_words(const unsigned* panel, unsigned* bits, int first, int n_panel,
                                      int n_bits, Int64 n_words) {
  __shared__ unsigned tile[32][33];
  Int64 word = (Int64)blockIdx.x * 32;
  int column = blockIdx.y * 32;
  int across = threadIdx.x & 31;
  for (int down = threadIdx.x >> 5; down < 32; down += THREADS / 32)
    if (column + down < n_panel && word + across < n_words)
      tile[down][across] = panel[(column + down) * n_words + word + across];
  __syncthreads();
  for (int down = threadIdx.x >> 5; down < 32; down += THREADS / 32)
    if (column + across < n_panel && word + down < n_words)
      bits[(word + down) * n_bits + first + column + across] = tile[across][down];
}
