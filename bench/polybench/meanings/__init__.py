"""What the kernels mean, in NumPy, and the data that they start from, by family."""
