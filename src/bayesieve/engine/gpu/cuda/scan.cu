// Fast scans of single columns; they shortlist and never decide (but counts of errors are exact).
//
// Bit columns: a thread has COLUMNS of them, and a block walks through the words of a chunk, which
// have one class and set; what all threads need to know of the lines is staged in shared memory.
// Byte columns: a block has one column and a chunk, its threads share the lines.

// Words whose lines are staged together.
#define STAGED 8

#define OTHERS (CLASSES - 1)

// Which other class stands at place q.
__device__ __forceinline__ int other(int q, int own) { return q + (q >= own); }

// One of the four numbers; which is known when this is compiled.
__device__ __forceinline__ float one_of(const float4& four, int j) {
  return j == 0 ? four.x : j == 1 ? four.y : j == 2 ? four.z : four.w;
}

// What a column says of class k beyond what it says of the line's own class, in nat.
__device__ __forceinline__ double said(const Int64* terms, int k, int own, int sign, double unit) {
  return (double)(sign * (terms[k] - terms[own])) * unit;
}

// Sums of P(own class): with odds o of the others, a column turns it into 1 / (1 + sum of o x ratio).
// One reciprocal serves two lines: 1/a + 1/b = (a + b) / ab.
template <bool CLAMPED, bool WEIGHTED>
struct Probable {
  static const int PLANES = OTHERS;
  float ratio[2][OTHERS], sum;

  __device__ void load(const Int64* terms, int own, int sign, double unit, const Int64*, int) {
    UNROLL for (int v = 0; v < 2; v++)
      UNROLL for (int q = 0; q < OTHERS; q++)
        ratio[v][q] = (float)exp(said(terms + v * CLASSES, other(q, own), own, sign, unit));
  }

  __device__ __forceinline__ void begin() { sum = 0.0f; }

  __device__ __forceinline__ float against(unsigned bit, const float4* odds, int j) {
    float found = 1.0f;
    UNROLL for (int q = 0; q < OTHERS; q++)
      found = fmaf(one_of(odds[q], j), bit ? ratio[1][q] : ratio[0][q], found);
    // The product of two stays finite.
    return CLAMPED ? fminf(found, 4.6e18f) : found;
  }

  __device__ __forceinline__ void four(unsigned word, const float4* odds, const float* weights) {
    UNROLL for (int j = 0; j < 4; j += 2) {
      float a = against(word >> j & 1, odds, j), b = against(word >> (j + 1) & 1, odds, j + 1);
      float both = reciprocal(a * b);
      sum = fmaf(WEIGHTED ? fmaf(weights[j], b, weights[j + 1] * a) : a + b, both, sum);
    }
  }

  __device__ __forceinline__ double end() { return (double)sum; }
};

// Sums of the change of -log P(own class): the logarithm of the sum of p x ratio over all classes.
// Eight lines share one logarithm.
template <bool WEIGHTED>
struct Surprise {
  static const int PLANES = CLASSES;
  float ratio[2][OTHERS];
  double sum, product;
  int n_factors;

  __device__ void load(const Int64* terms, int own, int sign, double unit, const Int64*, int) {
    UNROLL for (int v = 0; v < 2; v++)
      UNROLL for (int q = 0; q < OTHERS; q++)
        ratio[v][q] = (float)exp(said(terms + v * CLASSES, other(q, own), own, sign, unit));
  }

  __device__ __forceinline__ void begin() { sum = 0.0, product = 1.0, n_factors = 0; }

  __device__ __forceinline__ void four(unsigned word, const float4* shares, const float* weights) {
    UNROLL for (int j = 0; j < 4; j++) {
      float found = one_of(shares[OTHERS], j);
      UNROLL for (int q = 0; q < OTHERS; q++)
        found = fmaf(one_of(shares[q], j), word >> j & 1 ? ratio[1][q] : ratio[0][q], found);
      if (WEIGHTED)
        sum += (double)weights[j] * log((double)found);
      else
        product *= (double)found;
    }
    if (!WEIGHTED && ++n_factors % 2 == 0) {
      sum += log(product);
      product = 1.0;
    }
  }

  __device__ __forceinline__ double end() { return sum; }
};

// Counts of lines that stay right, by the ranks of their margins: exact.
struct Right {
  static const int PLANES = OTHERS;
  float need[2][OTHERS], count;

  __device__ void load(const Int64* terms, int own, int sign, double, const Int64* needs,
                       int n_needs) {
    UNROLL for (int v = 0; v < 2; v++)
      UNROLL for (int q = 0; q < OTHERS; q++) {
        int k = other(q, own);
        Int64 asked = sign * (terms[v * CLASSES + k] - terms[v * CLASSES + own]) + (k < own);
        need[v][q] = count_below(needs + (Int64)q * n_needs, n_needs, asked, true) + 1;
      }
  }

  __device__ __forceinline__ void begin() { count = 0.0f; }

  __device__ __forceinline__ void four(unsigned word, const float4* ranks, const float*) {
    UNROLL for (int j = 0; j < 4; j++) {
      bool bit = word >> j & 1, stays = true;
      UNROLL for (int q = 0; q < OTHERS; q++)
        stays &= one_of(ranks[q], j) >= (bit ? need[1][q] : need[0][q]);
      count += stays ? 1.0f : 0.0f;
    }
  }

  __device__ __forceinline__ double end() { return (double)count; }
};

// All candidates of bit columns: block (candidates, chunk); out: [chunk][candidate].
template <class Lines, bool WEIGHTED>
__device__ void scan_words(const unsigned* bits, const float* planes, const Int64* weights,
                           const int* classes, const int* sets, const int* first, const int* count,
                           const int* places, const Int64* offsets, const Int64* table,
                           const int* candidates, int n_candidates, int sign, double unit,
                           const Int64* needs, int n_needs, double* out, int n_bits, Int64 n) {
  __shared__ float4 staged[Lines::PLANES][STAGED * 8];
  __shared__ float staged_weights[WEIGHTED ? STAGED * 32 : 1];
  int chunk = blockIdx.y, begin = first[chunk], own = classes[begin], set = sets[begin];
  int here = blockIdx.x * blockDim.x * COLUMNS + threadIdx.x;
  const Int64* mine = needs + ((Int64)set * CLASSES + own) * OTHERS * n_needs;
  Lines lines[COLUMNS];
  double total[COLUMNS];
  int column[COLUMNS];
  UNROLL for (int t = 0; t < COLUMNS; t++) {
    int slot = candidates[min(here + t * (int)blockDim.x, n_candidates - 1)];
    column[t] = places[slot];
    lines[t].load(table + offsets[slot] + (Int64)set * 2 * CLASSES, own, sign, unit, mine, n_needs);
    total[t] = 0.0;
  }
  for (int from = 0; from < count[chunk]; from += STAGED) {
    int n_words = min(STAGED, count[chunk] - from);
    __syncthreads();
    for (int j = threadIdx.x; j < n_words * 8 * Lines::PLANES; j += blockDim.x) {
      int q = j / (n_words * 8), four = j % (n_words * 8);
      staged[q][four] = ((const float4*)(planes + q * n + (Int64)(begin + from) * 32))[four];
    }
    if (WEIGHTED)
      for (int j = threadIdx.x; j < n_words * 32; j += blockDim.x)
        staged_weights[j] = (float)weights[(Int64)(begin + from) * 32 + j];
    __syncthreads();
    for (int w = 0; w < n_words; w++) {
      unsigned word[COLUMNS];
      UNROLL for (int t = 0; t < COLUMNS; t++) {
        word[t] = bits[(Int64)(begin + from + w) * n_bits + column[t]];
        lines[t].begin();
      }
      UNROLL for (int four = 0; four < 8; four++) {
        float4 values[Lines::PLANES];
        UNROLL for (int q = 0; q < Lines::PLANES; q++) values[q] = staged[q][w * 8 + four];
        UNROLL for (int t = 0; t < COLUMNS; t++)
          lines[t].four(word[t] >> (4 * four), values,
                        staged_weights + (WEIGHTED ? w * 32 + 4 * four : 0));
      }
      UNROLL for (int t = 0; t < COLUMNS; t++) total[t] += lines[t].end();
    }
  }
  UNROLL for (int t = 0; t < COLUMNS; t++)
    if (here + t * (int)blockDim.x < n_candidates)
      out[(Int64)chunk * n_candidates + here + t * blockDim.x] = total[t];
}

#define SCAN_WORDS(NAME, LINES, WEIGHTED)                                                          \
  extern "C" __global__ void NAME(                                                                 \
      const unsigned* bits, const float* planes, const Int64* weights, const int* classes,         \
      const int* sets, const int* first, const int* count, const int* places,                      \
      const Int64* offsets, const Int64* table, const int* candidates, int n_candidates, int sign, \
      double unit, const Int64* needs, int n_needs, double* out, int n_bits, Int64 n) {            \
    scan_words<LINES, WEIGHTED>(bits, planes, weights, classes, sets, first, count, places,        \
                                offsets, table, candidates, n_candidates, sign, unit, needs,       \
                                n_needs, out, n_bits, n);                                          \
  }

typedef Probable<false, false> NearLines;
typedef Probable<true, false> FarLines;
typedef Probable<true, true> WeightedLines;
SCAN_WORDS(scan_near, NearLines, false)
SCAN_WORDS(scan_far, FarLines, false)
SCAN_WORDS(scan_weighted, WeightedLines, true)
SCAN_WORDS(scan_surprise, Surprise<false>, false)
SCAN_WORDS(scan_surprise_weighted, Surprise<true>, true)
SCAN_WORDS(count_right, Right, false)

// Single byte columns: block (chunk, candidate); out: [chunk][candidate].  For `surprised` the sums
// of log of p x ratio, else of P(own class).
extern "C" __global__ void scan_bytes(int surprised, const unsigned char* codes, const float* planes,
                                      const Int64* weights, int weighted, const int* classes,
                                      const int* sets, const int* first, const int* count,
                                      const int* places, const Int64* offsets, const int* n_codes,
                                      const Int64* table, const int* candidates, int n_candidates,
                                      int sign, double unit, double* out, Int64 n) {
  __shared__ float ratio[256 * OTHERS];
  int chunk = blockIdx.x, slot = candidates[blockIdx.y];
  int begin = first[chunk], own = classes[begin], size = n_codes[slot];
  const Int64* terms = table + offsets[slot] + (Int64)sets[begin] * size * CLASSES;
  for (int j = threadIdx.x; j < size * OTHERS; j += THREADS)
    ratio[j] = (float)exp(said(terms + j / OTHERS * CLASSES, other(j % OTHERS, own), own, sign, unit));
  __syncthreads();
  const unsigned char* column = codes + (Int64)(-1 - places[slot]) * n;
  double mine = 0.0;
  for (int at = threadIdx.x; at < count[chunk] * 32; at += THREADS) {
    Int64 line = (Int64)begin * 32 + at;
    const float* said_here = ratio + column[line] * OTHERS;
    float found = surprised ? planes[OTHERS * n + line] : 1.0f;
    UNROLL for (int q = 0; q < OTHERS; q++) found = fmaf(planes[q * n + line], said_here[q], found);
    double value = surprised ? log((double)found) : (double)reciprocal(fminf(found, 4.6e18f));
    mine += weighted ? value * (double)weights[line] : value;
  }
  double all = add_threads(mine);
  if (!threadIdx.x) out[(Int64)chunk * n_candidates + blockIdx.y] = all;
}

// Sums of chunks by true class: out is [candidate][class].
extern "C" __global__ void add_chunks(const double* parts, const int* classes, const int* first,
                                      int n_chunks, int n_candidates, double* out) {
  Int64 j = this_thread();
  if (j >= n_candidates) return;
  double total[CLASSES];
  for (int k = 0; k < CLASSES; k++) total[k] = 0.0;
  for (int chunk = 0; chunk < n_chunks; chunk++)
    total[classes[first[chunk]]] += parts[(Int64)chunk * n_candidates + j];
  for (int k = 0; k < CLASSES; k++) out[j * CLASSES + k] = total[k];
}
