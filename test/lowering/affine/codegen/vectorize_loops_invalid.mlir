// RUN: dlc-opt %s "--affine-vectorize-loops=vector-bits=100 registers=16" --verify-diagnostics
// A machine that the pass cannot vectorise for is refused.

// expected-error@below {{no vectors of 100 bits; give a power of two from 64 on as vector-bits}}
func.func private @unfit() {
  return
}
