"""GPU engine: rows in GPU memory, results identical to the CPU."""
