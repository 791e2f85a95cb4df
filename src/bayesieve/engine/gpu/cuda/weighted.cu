// Weighted terms: posteriors in fixed point, what they add up to by code, and terms that move scores.
//
// FULL says whether products of the posteriors of two classes are added up, or posteriors alone;
// PLANE is the type that holds a line's numbers: 32 bits, or 64 where lines have weights.  Planes are
// [plane][line]; the last holds 1 - P(own class), which is added up by true class.

#define OTHERS (CLASSES - 1)
#define N_PLANES (FULL ? OTHERS + CLASSES * OTHERS / 2 : 2 * CLASSES - 1)
#define WIDTH (N_PLANES + CLASSES)

// Posteriors are whole multiples of 2^-22.
#define ONE (1 << 22)

// Planes that a thread, or a block, adds up in one go.
#define TOGETHER 4
#define TOGETHER_BYTES 16

extern "C" __global__ void raise_term(Int64* sums, const unsigned* bits, const unsigned char* codes,
                                      const int* classes, const Int64* ratios, const Int64* left_out,
                                      Int64 first_row, const Int64* steps, int place, int n_bits,
                                      Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  int own = classes[line >> 5];
  Int64 row = first_row + code_of(bits, codes, place, n_bits, n, line);
  for (int k = 0; k < CLASSES; k++) {
    Int64 term = ratios[row * CLASSES + k] + (k == own ? left_out[row * CLASSES + k] : 0);
    sums[k * n + line] += steps[k] * term;
  }
}

extern "C" __global__ void shift_sums(Int64* sums, const Int64* steps, Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  for (int k = 0; k < CLASSES; k++) sums[k * n + line] += steps[k];
}

// Planes of every line, and the losses of all: block (piece).
extern "C" __global__ void respond(const Int64* sums, const int* classes, const unsigned* valid,
                                   const Int64* weights, int weighted, const int* first,
                                   const int* count, double unit, double grain, PLANE* planes,
                                   UInt64* loss, Int64 n) {
  int own = classes[first[blockIdx.x]];
  Int64 mine = 0;
  for (int at = threadIdx.x; at < count[blockIdx.x] * 32; at += THREADS) {
    Int64 line = (Int64)first[blockIdx.x] * 32 + at;
    if (!(valid[line >> 5] >> (line & 31) & 1)) {
      for (int q = 0; q <= N_PLANES; q++) planes[q * n + line] = 0;
      continue;
    }
    Int64 weight = weighted ? weights[line] : 1;
    Int64 best = sums[line];
    for (int k = 1; k < CLASSES; k++) best = max(best, sums[k * n + line]);
    double chance[CLASSES], total = 0.0;
    UNROLL for (int k = 0; k < CLASSES; k++) {
      double apart = __dmul_rn((double)(best - sums[k * n + line]), unit);
      chance[k] = apart <= FAR ? exp_fixed(-apart) : 0.0;
      total = __dadd_rn(total, chance[k]);
    }
    UNROLL for (int k = 0; k < CLASSES; k++) chance[k] = __ddiv_rn(chance[k], total);
    Int64 rest = ONE, kept = 0;
    int q = 0;
    UNROLL for (int k = 0; k < CLASSES; k++) {
      Int64 whole = k < OTHERS ? (Int64)times_plus(chance[k], (double)ONE, 0.5) : rest;
      rest -= whole;
      kept = k == own ? whole : kept;
      if (k < OTHERS) planes[q++ * n + line] = (PLANE)(((k == own ? ONE : 0) - whole) * weight);
      if (!FULL) planes[(OTHERS + k) * n + line] = (PLANE)(whole * weight);
    }
    if (FULL)
      UNROLL for (int k = 0; k < CLASSES; k++)
        for (int r = k + 1; r < CLASSES; r++) {
          double both = __dmul_rn(chance[k], chance[r]);
          planes[q++ * n + line] = (PLANE)((Int64)times_plus(both, (double)ONE, 0.5) * weight);
        }
    planes[(Int64)N_PLANES * n + line] = (PLANE)((ONE - kept) * weight);
    double nat = times_plus((double)(best - sums[own * n + line]), unit, log_fixed(total));
    mine += (Int64)times_plus(nat, grain, 0.5) * weight;
  }
  Int64 all = add_threads(mine);
  if (!threadIdx.x) atomicAdd(loss, (UInt64)all);
}

// Sums of planes by true class: block (chunk, plane); out is [class][plane].
extern "C" __global__ void balance(const PLANE* planes, const int* classes, const int* first,
                                   const int* count, UInt64* out, Int64 n) {
  Int64 mine = 0;
  for (int at = threadIdx.x; at < count[blockIdx.x] * 32; at += THREADS)
    mine += planes[blockIdx.y * n + (Int64)first[blockIdx.x] * 32 + at];
  Int64 all = add_threads(mine);
  int own = classes[first[blockIdx.x]];
  if (!threadIdx.x) atomicAdd(out + own * (N_PLANES + 1) + blockIdx.y, (UInt64)all);
}

// Where a plane of a line of class `own` is added up.
__device__ __forceinline__ int seat_of(int plane, int own) {
  return plane < N_PLANES ? plane : N_PLANES + own;
}

// What code 1 of bit columns adds up to: block (columns, chunk, some planes); out is [column][WIDTH].
extern "C" __global__ void slopes_of_bits(const unsigned* bits, const PLANE* planes,
                                          const int* classes, const int* first, const int* count,
                                          const int* places, int n_columns, UInt64* out, int n_bits,
                                          Int64 n) {
  __shared__ PLANE staged[TOGETHER][256];
  int chunk = blockIdx.y, begin = first[chunk], from = blockIdx.z * TOGETHER;
  int n_here = min(TOGETHER, N_PLANES + 1 - from), j = blockIdx.x * THREADS + threadIdx.x;
  int column = places[min(j, n_columns - 1)];
  Int64 total[TOGETHER];
  UNROLL for (int q = 0; q < TOGETHER; q++) total[q] = 0;
  for (int start = 0; start < count[chunk]; start += 8) {
    int n_words = min(8, count[chunk] - start);
    __syncthreads();
    for (int at = threadIdx.x; at < n_words * 32 * TOGETHER; at += THREADS) {
      int q = at / (n_words * 32), line = at % (n_words * 32);
      Int64 there = (Int64)(begin + start) * 32 + line;
      staged[q][line] = q < n_here ? planes[(from + q) * n + there] : (PLANE)0;
    }
    __syncthreads();
    for (int w = 0; w < n_words; w++) {
      unsigned word = bits[(Int64)(begin + start + w) * n_bits + column];
      PLANE sum[TOGETHER];
      UNROLL for (int q = 0; q < TOGETHER; q++) sum[q] = 0;
      UNROLL for (int i = 0; i < 32; i++) {
        PLANE mask = -(PLANE)(word >> i & 1);
        UNROLL for (int q = 0; q < TOGETHER; q++) sum[q] += mask & staged[q][w * 32 + i];
      }
      UNROLL for (int q = 0; q < TOGETHER; q++) total[q] += sum[q];
    }
  }
  if (j < n_columns)
    for (int q = 0; q < n_here; q++)
      atomicAdd(out + (Int64)j * WIDTH + seat_of(from + q, classes[begin]), (UInt64)total[q]);
}

// 64 bits in two halves: shared memory adds 32 bits at once, and carries are rare.
__device__ __forceinline__ void add_halves(unsigned* low, unsigned* high, Int64 value) {
  unsigned part = (unsigned)value, before = atomicAdd(low, part);
  unsigned rest = (unsigned)((UInt64)value >> 32) + (before + part < before);
  if (rest) atomicAdd(high, rest);
}

// Sums by code of byte columns: block (chunk, column, some planes); column j adds to out from at[j]
// on, [code][WIDTH].
extern "C" __global__ void slopes_of_bytes(const unsigned char* codes, const PLANE* planes,
                                           const int* classes, const int* first, const int* count,
                                           const int* places, const int* n_codes, const Int64* at,
                                           UInt64* out, Int64 n) {
  __shared__ unsigned low[256 * TOGETHER_BYTES], high[256 * TOGETHER_BYTES];
  int begin = first[blockIdx.x], own = classes[begin], size = n_codes[blockIdx.y];
  int from = blockIdx.z * TOGETHER_BYTES, n_here = min(TOGETHER_BYTES, N_PLANES + 1 - from);
  // Columns of few codes have several copies of their sums, so that threads seldom meet.
  int copies = max(1, min(32, 256 / size)), cells = size * n_here;
  for (int j = threadIdx.x; j < cells * copies; j += THREADS) low[j] = high[j] = 0;
  __syncthreads();
  const unsigned char* column = codes + (Int64)(-1 - places[blockIdx.y]) * n;
  int mine = (threadIdx.x % copies) * cells;
  for (int i = threadIdx.x; i < count[blockIdx.x] * 32; i += THREADS) {
    Int64 line = (Int64)begin * 32 + i;
    int cell = mine + column[line] * n_here;
    for (int q = 0; q < n_here; q++) {
      Int64 value = planes[(from + q) * n + line];
      if (value) add_halves(low + cell + q, high + cell + q, value);
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < cells; j += THREADS) {
    UInt64 total = 0;
    for (int copy = 0; copy < copies; copy++)
      total += ((UInt64)high[copy * cells + j] << 32) + low[copy * cells + j];
    int seat = seat_of(from + j % n_here, own);
    if (total) atomicAdd(out + at[blockIdx.y] + (Int64)(j / n_here) * WIDTH + seat, total);
  }
}
