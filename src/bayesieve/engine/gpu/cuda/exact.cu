// Values of lines, as the host's kernels compute them: the same operations in the same order, each
// rounded by itself.  A product and a sum joined into one operation (contraction) would round once
// and change bits: every operation is named, and the compiler is told not to join any.

#define FAR 50.0

__device__ __forceinline__ double times_plus(double a, double b, double c) {
  return __dadd_rn(__dmul_rn(a, b), c);
}

// exp(x) for |x| <= 50, by range reduction and a polynomial of degree 13.
__device__ double exp_fixed(double x) {
  double k = floor(times_plus(x, 1.4426950408889634, 0.5));
  double r = __dsub_rn(__dsub_rn(x, __dmul_rn(k, 0.6931471803691238)),
                       __dmul_rn(k, 1.9082149292705877e-10));
  double p = 1.0 / 6227020800.0;
  p = times_plus(p, r, 1.0 / 479001600.0);
  p = times_plus(p, r, 1.0 / 39916800.0);
  p = times_plus(p, r, 1.0 / 3628800.0);
  p = times_plus(p, r, 1.0 / 362880.0);
  p = times_plus(p, r, 1.0 / 40320.0);
  p = times_plus(p, r, 1.0 / 5040.0);
  p = times_plus(p, r, 1.0 / 720.0);
  p = times_plus(p, r, 1.0 / 120.0);
  p = times_plus(p, r, 1.0 / 24.0);
  p = times_plus(p, r, 1.0 / 6.0);
  p = times_plus(p, r, 0.5);
  p = times_plus(p, r, 1.0);
  p = times_plus(p, r, 1.0);
  return __dmul_rn(p, __longlong_as_double((Int64)(1023 + (int)k) << 52));
}

// log(z) for z >= 1, by halving into [0.707, 1.414) and the series of atanh.
__device__ double log_fixed(double z) {
  double shift = 0.0;
  while (z >= 1.4142135623730951) {
    z = __dmul_rn(z, 0.5);
    shift = __dadd_rn(shift, 1.0);
  }
  double u = __ddiv_rn(__dsub_rn(z, 1.0), __dadd_rn(z, 1.0));
  double q = __dmul_rn(u, u);
  double p = 1.0 / 23.0;
  p = times_plus(p, q, 1.0 / 21.0);
  p = times_plus(p, q, 1.0 / 19.0);
  p = times_plus(p, q, 1.0 / 17.0);
  p = times_plus(p, q, 1.0 / 15.0);
  p = times_plus(p, q, 1.0 / 13.0);
  p = times_plus(p, q, 1.0 / 11.0);
  p = times_plus(p, q, 1.0 / 9.0);
  p = times_plus(p, q, 1.0 / 7.0);
  p = times_plus(p, q, 1.0 / 5.0);
  p = times_plus(p, q, 1.0 / 3.0);
  p = times_plus(p, q, 1.0);
  return times_plus(shift, 0.6931471805599453, __dmul_rn(__dmul_rn(2.0, u), p));
}

// Loss of a line: wrong or not, P(Y != y) or -log P(Y = y), in grains.  `ahead` has how far each
// class is ahead of the line's own.
__device__ Int64 line_value(int kind, const Int64* ahead, int own, double unit, double grain) {
  if (kind == ERROR) {
    int wrong = 0;
    UNROLL for (int k = 0; k < CLASSES; k++) wrong |= k != own && ahead[k] + (k < own) > 0;
    return wrong;
  }
  double total = 0.0;
  if (kind == PROBABILITY) {
    UNROLL for (int k = 0; k < CLASSES; k++)
      if (k != own) {
        double x = fmin(fmax(__dmul_rn((double)ahead[k], unit), -FAR), FAR);
        total = __dadd_rn(total, exp_fixed(x));
      }
    double share = __ddiv_rn(total, __dadd_rn(1.0, total));
    return (Int64)floor(times_plus(share, grain, 0.5));
  }
  double top = 0.0;
  UNROLL for (int k = 0; k < CLASSES; k++) top = fmax(top, __dmul_rn((double)ahead[k], unit));
  UNROLL for (int k = 0; k < CLASSES; k++) {
    double x = __dsub_rn(__dmul_rn((double)ahead[k], unit), top);
    total = __dadd_rn(total, exp_fixed(fmax(x, -FAR)));
  }
  return (Int64)floor(times_plus(__dadd_rn(top, log_fixed(total)), grain, 0.5));
}
