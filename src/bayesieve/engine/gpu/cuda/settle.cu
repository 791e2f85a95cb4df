// Exact losses of candidates, each a group of columns, from the integer sums.
//
// Block (piece, candidate): a piece is some words of one class and set.  Candidate j moves the
// columns members[pointers[j]:pointers[j + 1]]; an empty one is the ledger as it is.

extern "C" __global__ void settle(int kind, const Int64* sums, const int* classes, const int* sets,
                                  const unsigned* valid, const Int64* weights, int weighted,
                                  const int* first, const int* count, const unsigned* bits,
                                  const unsigned char* codes, const int* places,
                                  const Int64* offsets, const int* n_codes, const Int64* table,
                                  const int* pointers, const int* members, int sign, double unit,
                                  double grain, UInt64* out, int n_bits, Int64 n) {
  int word = first[blockIdx.x], own = classes[word], set = sets[word];
  int from = pointers[blockIdx.y], to = pointers[blockIdx.y + 1];
  Int64 loss = 0;
  for (int at = threadIdx.x; at < count[blockIdx.x] * 32; at += THREADS) {
    Int64 line = (Int64)word * 32 + at;
    if (!(valid[line >> 5] >> (line & 31) & 1)) continue;
    Int64 ahead[CLASSES], mine = sums[own * n + line];
    UNROLL for (int k = 0; k < CLASSES; k++) ahead[k] = sums[k * n + line] - mine;
    for (int m = from; m < to; m++) {
      int slot = members[m], code = code_of(bits, codes, places[slot], n_bits, n, line);
      const Int64* terms = table + offsets[slot] + ((Int64)set * n_codes[slot] + code) * CLASSES;
      UNROLL for (int k = 0; k < CLASSES; k++) ahead[k] += sign * (terms[k] - terms[own]);
    }
    Int64 value = line_value(kind, ahead, own, unit, grain);
    loss += weighted ? value * weights[line] : value;
  }
  Int64 all = add_threads(loss);
  if (!threadIdx.x) atomicAdd(out + (Int64)blockIdx.y * CLASSES + own, (UInt64)all);
}
