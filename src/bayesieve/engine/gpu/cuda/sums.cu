// Integer sums of every line and class, [class][line], and what scans read of them.

extern "C" __global__ void start_sums(Int64* sums, const int* sets, const Int64* prior, Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  for (int k = 0; k < CLASSES; k++) sums[k * n + line] = prior[sets[line >> 5] * CLASSES + k];
}

// A column joins (sign 1) or leaves (-1).  Its table starts at `base`: [set][code][class].
extern "C" __global__ void move_column(Int64* sums, const unsigned* bits, const unsigned char* codes,
                                       const int* sets, const Int64* table, Int64 base, int n_codes,
                                       int place, int sign, int n_bits, Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  int code = code_of(bits, codes, place, n_bits, n, line);
  const Int64* terms = table + base + ((Int64)sets[line >> 5] * n_codes + code) * CLASSES;
  for (int k = 0; k < CLASSES; k++) sums[k * n + line] += sign * terms[k];
}

// Odds of the other classes against a line's own, at most e^most; 0 where there is no line.
extern "C" __global__ void find_odds(const Int64* sums, const int* classes, const unsigned* valid,
                                     double unit, double most, float* odds, Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  int own = classes[line >> 5], q = 0;
  bool here = valid[line >> 5] >> (line & 31) & 1;
  for (int k = 0; k < CLASSES; k++)
    if (k != own) {
      double x = (double)(sums[k * n + line] - sums[own * n + line]) * unit;
      odds[q++ * n + line] = here ? (float)exp(fmin(fmax(x, -85.0), most)) : 0.0f;
    }
}

// Posteriors of all classes, those of another class before those of the line's own; and the surprise
// -log P(own) of the lines of each piece, added up.
extern "C" __global__ void find_posteriors(const Int64* sums, const int* classes,
                                           const unsigned* valid, const Int64* weights,
                                           int weighted, const int* first, const int* count,
                                           double unit, float* posteriors, double* surprise,
                                           Int64 n) {
  int own = classes[first[blockIdx.x]];
  double mine = 0.0;
  for (int at = threadIdx.x; at < count[blockIdx.x] * 32; at += THREADS) {
    Int64 line = (Int64)first[blockIdx.x] * 32 + at;
    bool here = valid[line >> 5] >> (line & 31) & 1;
    Int64 top = sums[line];
    for (int k = 1; k < CLASSES; k++) top = max(top, sums[k * n + line]);
    double total = 0.0;
    for (int k = 0; k < CLASSES; k++) total += exp((double)(sums[k * n + line] - top) * unit);
    int q = 0;
    for (int k = 0; k < CLASSES; k++) {
      double share = exp((double)(sums[k * n + line] - top) * unit) / total;
      // No line: a factor of 1, whose logarithm is 0.
      posteriors[(k == own ? CLASSES - 1 : q++) * n + line] = here ? (float)share : k == own;
    }
    double x = log(total) - (double)(sums[own * n + line] - top) * unit;
    if (here) mine += weighted ? x * (double)weights[line] : x;
  }
  double all = add_threads(mine);
  if (!threadIdx.x) surprise[blockIdx.x] = all;
}

// How many elements of an ascending array are at most (or, strictly, below) a value.
__device__ int count_below(const Int64* sorted, int size, Int64 value, bool strictly) {
  int low = 0;
  while (size) {
    int half = size / 2;
    bool after = strictly ? sorted[low + half] < value : sorted[low + half] <= value;
    low = after ? low + half + 1 : low;
    size = after ? size - half - 1 : half;
  }
  return low;
}

// The rank of each line's margin over every other class among the margins that columns ask for:
// `needs` has n_needs of them in ascending order, [set][own class][other class].
extern "C" __global__ void find_ranks(const Int64* sums, const int* classes, const int* sets,
                                      const unsigned* valid, const Int64* needs, int n_needs,
                                      float* ranks, Int64 n) {
  Int64 line = this_thread();
  if (line >= n) return;
  int own = classes[line >> 5], q = 0;
  bool here = valid[line >> 5] >> (line & 31) & 1;
  const Int64* mine = needs + ((Int64)sets[line >> 5] * CLASSES + own) * (CLASSES - 1) * n_needs;
  for (int k = 0; k < CLASSES; k++)
    if (k != own) {
      Int64 margin = sums[own * n + line] - sums[k * n + line];
      int rank = count_below(mine + (Int64)q * n_needs, n_needs, margin, false);
      // What is no line is right whatever happens.
      ranks[q++ * n + line] = here ? (float)rank : 3e38f;
    }
}
