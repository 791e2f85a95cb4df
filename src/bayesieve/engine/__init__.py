"""Where the sums live: ledgers, and who runs their kernels."""
