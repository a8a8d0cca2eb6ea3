// RUN: dlc-opt %s --verify-diagnostics "--affine-check-legality=pass='affine-data-copy-generate{generate-dma=false fast-mem-space=0}'"
// After llvm/llvm-project issue 217538: a buffer goes back to memory without having been filled.

// expected-error @+1 {{affine-data-copy-generate would change %m[1]: a value would come from memory that nothing wrote, and not from the constant 99 : i32}}
func.func @not_filled(%m: memref<8xi32>) {
  %s = arith.constant 99 : i32
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    affine.store %s, %m[1] : memref<8xi32>
    memref.store %s, %m[%zero] : memref<8xi32>
  }
  return
}
