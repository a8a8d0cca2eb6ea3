// RUN: dlc-opt %s --split-input-file --affine-tile-registers='vector-bits=512 registers=32' --verify-diagnostics
// Memrefs that no memory holds have strides that no code can compute with.

// expected-error @+1 {{memref<768x9223372036854775807xf32> is larger than any memory; give it at most 140737488355328 elements}}
func.func private @inner(%x: memref<768xf32>, %w: memref<768x9223372036854775807xf32>, %y: memref<96xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 96 {
    %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<768xf32>
      %v = affine.load %w[%k, %j] : memref<768x9223372036854775807xf32>
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%j] : memref<96xf32>
  } {dlc.parallel}
  return
}
