// Fast scans of single columns; they shortlist and never decide (but counts of errors are exact).
//
// Bit columns: a thread has some of them, and a block walks through the words of a chunk, which have
// one class and set; what all threads need to know of the lines is staged in shared memory.
// Byte columns: a block has one column and a chunk, its threads share the lines.

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

// What a block knows of its lines and of all columns.
struct Chunk {
  const Int64* table;  // terms, [set][code][class] from a column's offset on
  const float* asked;  // ranks that bit columns ask for, [set][own][other][code][column]
  int own, set, sign, n_bits;
  double unit;
};

// By what a column multiplies the odds of the other classes, for both of its codes.
struct Ratios {
  float of[2][OTHERS];

  __device__ void load(const Chunk& chunk, Int64 offset) {
    const Int64* terms = chunk.table + offset + (Int64)chunk.set * 2 * CLASSES;
    UNROLL for (int v = 0; v < 2; v++)
      UNROLL for (int q = 0; q < OTHERS; q++)
        of[v][q] = (float)exp(said(terms + v * CLASSES, other(q, chunk.own), chunk.own, chunk.sign,
                                   chunk.unit));
  }

  // `start` and the sum of what is known of a line x ratio.
  __device__ __forceinline__ float mixed(float start, unsigned bit, const float4* known, int j) {
    UNROLL for (int q = 0; q < OTHERS; q++)
      start = fmaf(one_of(known[q], j), bit ? of[1][q] : of[0][q], start);
    return start;
  }
};

// Sums of P(own class): with odds o of the others, a column turns it into 1 / (1 + sum of o x ratio).
// One reciprocal serves two lines: 1/a + 1/b = (a + b) / ab.
template <bool CLAMPED, bool WEIGHTED>
struct Probable {
  static const int PLANES = OTHERS;
  Ratios ratios;
  float sum;
  double total;

  __device__ void begin(const Chunk& chunk, Int64 offset, int) {
    ratios.load(chunk, offset);
    sum = 0.0f, total = 0.0;
  }

  __device__ __forceinline__ float against(unsigned bit, const float4* odds, int j) {
    float found = ratios.mixed(1.0f, bit, odds, j);
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

  __device__ __forceinline__ void end_word() { total += (double)sum, sum = 0.0f; }

  __device__ __forceinline__ double end() { return total; }
};

// Sums of the change of -log P(own class): the logarithm of the sum of p x ratio over all classes.
// Lines are multiplied, and all of a chunk share one logarithm: exponents are taken out word by word.
// NEAR: factors of four lines stay within single precision, else those of eight within double.
template <bool NEAR>
struct Surprise {
  static const int PLANES = CLASSES;
  Ratios ratios;
  double product;
  int exponent;

  __device__ void begin(const Chunk& chunk, Int64 offset, int) {
    ratios.load(chunk, offset);
    product = 1.0, exponent = 0;
  }

  __device__ __forceinline__ void take_exponent() {
    Int64 bits = __double_as_longlong(product);
    exponent += (int)(bits >> 52) - 1023;
    product = __longlong_as_double((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
  }

  __device__ __forceinline__ void four(unsigned word, const float4* shares, const float*) {
    float of_four = 1.0f;
    UNROLL for (int j = 0; j < 4; j++) {
      float found = ratios.mixed(one_of(shares[OTHERS], j), word >> j & 1, shares, j);
      if (NEAR)
        of_four = j ? of_four * found : found;
      else
        product *= (double)found;
    }
    if (NEAR)
      product *= (double)of_four;
    else
      take_exponent();
  }

  __device__ __forceinline__ void end_word() {
    if (NEAR) take_exponent();
  }

  __device__ __forceinline__ double end() {
    return (double)exponent * 0.6931471805599453 + log(product);
  }
};

// The same of lines with weights, each of which has its logarithm.
struct WeightedSurprise {
  static const int PLANES = CLASSES;
  Ratios ratios;
  double total;

  __device__ void begin(const Chunk& chunk, Int64 offset, int) {
    ratios.load(chunk, offset);
    total = 0.0;
  }

  __device__ __forceinline__ void four(unsigned word, const float4* shares, const float* weights) {
    UNROLL for (int j = 0; j < 4; j++)
      total += (double)weights[j] *
               log((double)ratios.mixed(one_of(shares[OTHERS], j), word >> j & 1, shares, j));
  }

  __device__ __forceinline__ void end_word() {}

  __device__ __forceinline__ double end() { return total; }
};

// Counts of lines that are wrong, by the ranks of their margins, which are whole numbers: exact.
struct Wrong {
  static const int PLANES = OTHERS;
  float asked[2][OTHERS], count;
  double total;

  __device__ void begin(const Chunk& chunk, Int64, int column) {
    Int64 run = ((Int64)chunk.set * CLASSES + chunk.own) * OTHERS;
    UNROLL for (int q = 0; q < OTHERS; q++)
      UNROLL for (int v = 0; v < 2; v++)
        asked[v][q] = chunk.asked[((run + q) * 2 + v) * chunk.n_bits + column];
    count = 0.0f, total = 0.0;
  }

  __device__ __forceinline__ void four(unsigned word, const float4* ranks, const float*) {
    UNROLL for (int j = 0; j < 4; j++) {
      float wrong = 0.0f;
      // A difference of whole numbers, cut off at 0 and 1: does this class win?
      UNROLL for (int q = 0; q < OTHERS; q++) {
        float ask = word >> j & 1 ? asked[1][q] : asked[0][q];
        float beaten = __saturatef(ask - one_of(ranks[q], j));
        wrong = q ? __saturatef(wrong + beaten) : beaten;
      }
      count += wrong;
    }
  }

  __device__ __forceinline__ void end_word() { total += (double)count, count = 0.0f; }

  __device__ __forceinline__ double end() { return total; }
};

// All candidates of bit columns: block (candidates, chunk); out: [chunk][candidate].
template <class Lines, bool WEIGHTED, int COLUMNS, int STAGED>
__device__ void scan_words(const unsigned* bits, const float* planes, const Int64* weights,
                           const int* classes, const int* sets, const int* first, const int* count,
                           const int* places, const Int64* offsets, const Int64* table,
                           const int* candidates, int n_candidates, int sign, double unit,
                           const float* asked, double* out, int n_bits, Int64 n) {
  __shared__ float4 staged[Lines::PLANES][STAGED * 8];
  __shared__ float staged_weights[WEIGHTED ? STAGED * 32 : 1];
  int begin = first[blockIdx.y], n_here = count[blockIdx.y];
  int here = blockIdx.x * blockDim.x * COLUMNS + threadIdx.x;
  Chunk chunk = {table, asked, classes[begin], sets[begin], sign, n_bits, unit};
  Lines lines[COLUMNS];
  const unsigned* next[COLUMNS];
  unsigned word[COLUMNS];
  UNROLL for (int t = 0; t < COLUMNS; t++) {
    int slot = candidates[min(here + t * (int)blockDim.x, n_candidates - 1)];
    lines[t].begin(chunk, offsets[slot], places[slot]);
    next[t] = bits + (Int64)begin * n_bits + places[slot];
    word[t] = *next[t];
  }
  for (int from = 0; from < n_here; from += STAGED) {
    int n_words = min(STAGED, n_here - from);
    __syncthreads();
    UNROLL for (int q = 0; q < Lines::PLANES; q++) {
      const float4* plane = (const float4*)(planes + q * n + (Int64)(begin + from) * 32);
      for (int j = threadIdx.x; j < n_words * 8; j += blockDim.x) staged[q][j] = plane[j];
    }
    if (WEIGHTED)
      for (int j = threadIdx.x; j < n_words * 32; j += blockDim.x)
        staged_weights[j] = (float)weights[(Int64)(begin + from) * 32 + j];
    __syncthreads();
    for (int w = 0; w < n_words; w++) {
      unsigned mine[COLUMNS];
      UNROLL for (int t = 0; t < COLUMNS; t++) {
        // The word after this one is on its way while this one is worked on.
        mine[t] = word[t];
        if (from + w + 1 < n_here) next[t] += n_bits;
        word[t] = *next[t];
      }
      UNROLL for (int four = 0; four < 8; four++) {
        float4 values[Lines::PLANES];
        UNROLL for (int q = 0; q < Lines::PLANES; q++) values[q] = staged[q][w * 8 + four];
        UNROLL for (int t = 0; t < COLUMNS; t++)
          lines[t].four(mine[t] >> (4 * four), values,
                        staged_weights + (WEIGHTED ? w * 32 + 4 * four : 0));
      }
      UNROLL for (int t = 0; t < COLUMNS; t++) lines[t].end_word();
    }
  }
  UNROLL for (int t = 0; t < COLUMNS; t++)
    if (here + t * (int)blockDim.x < n_candidates)
      out[(Int64)blockIdx.y * n_candidates + here + t * blockDim.x] = lines[t].end();
}

// SHAPE is a list of COLUMNS and STAGED.
#define SCAN_WORDS(NAME, LINES, WEIGHTED, SHAPE)                                                   \
  extern "C" __global__ void NAME(                                                                 \
      const unsigned* bits, const float* planes, const Int64* weights, const int* classes,         \
      const int* sets, const int* first, const int* count, const int* places,                      \
      const Int64* offsets, const Int64* table, const int* candidates, int n_candidates, int sign, \
      double unit, const float* asked, double* out, int n_bits, Int64 n) {                         \
    scan_words<LINES, WEIGHTED, SHAPE>(bits, planes, weights, classes, sets, first, count, places, \
                                       offsets, table, candidates, n_candidates, sign, unit,       \
                                       asked, out, n_bits, n);                                     \
  }

typedef Probable<false, false> NearLines;
typedef Probable<true, false> FarLines;
typedef Probable<true, true> WeightedLines;
SCAN_WORDS(scan_near, NearLines, false, SHAPE_PROBABILITY)
SCAN_WORDS(scan_far, FarLines, false, SHAPE_PROBABILITY)
SCAN_WORDS(scan_weighted, WeightedLines, true, SHAPE_PROBABILITY)
SCAN_WORDS(surprise_near, Surprise<true>, false, SHAPE_SURPRISE)
SCAN_WORDS(surprise_far, Surprise<false>, false, SHAPE_SURPRISE)
SCAN_WORDS(surprise_weighted, WeightedSurprise, true, SHAPE_SURPRISE)
SCAN_WORDS(count_wrong, Wrong, false, SHAPE_ERROR)

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

// Sums of chunks, those of each class times its number in a row of `mix`: block (32 candidates, row);
// out is [candidate][row].
extern "C" __global__ void add_chunks(const double* parts, const int* classes, const int* first,
                                      const double* mix, int n_chunks, int n_candidates,
                                      double* out) {
  __shared__ double kept[THREADS];
  int across = threadIdx.x & 31, j = blockIdx.x * 32 + across;
  double total = 0.0;
  if (j < n_candidates)
    for (int chunk = threadIdx.x >> 5; chunk < n_chunks; chunk += THREADS / 32) {
      double times = mix[blockIdx.y * CLASSES + classes[first[chunk]]];
      if (times != 0.0) total += times * parts[(Int64)chunk * n_candidates + j];
    }
  kept[threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.x >= 32 || j >= n_candidates) return;
  for (int down = 1; down < THREADS / 32; down++) total += kept[down * 32 + across];
  out[(Int64)j * gridDim.y + blockIdx.y] = total;
}
