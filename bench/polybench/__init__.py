"""The thirty kernels of PolyBench/C 4.2.1 and nests of deep learning as affine functions, beside the same loops in C."""
