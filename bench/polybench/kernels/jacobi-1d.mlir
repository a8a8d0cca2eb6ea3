// Three-point smoothing, two rows in turn (PolyBench/C 4.2.1, stencils).
!N = memref<${N}x$T>
func.func @kernel_jacobi_1d(%A: !N {llvm.noalias}, %B: !N {llvm.noalias}) {
  %c0_33333 = arith.constant 0.33333 : $T
  affine.for %t = 0 to $TSTEPS {
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      // B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
      %a = affine.load %A[%i - 1] : !N
      %a2 = affine.load %A[%i] : !N
      %sum = arith.addf %a, %a2 : $T
      %a3 = affine.load %A[%i + 1] : !N
      %sum2 = arith.addf %sum, %a3 : $T
      %product = arith.mulf %c0_33333, %sum2 : $T
      affine.store %product, %B[%i] : !N
    }
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      // A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
      %b = affine.load %B[%i - 1] : !N
      %b2 = affine.load %B[%i] : !N
      %sum = arith.addf %b, %b2 : $T
      %b3 = affine.load %B[%i + 1] : !N
      %sum2 = arith.addf %sum, %b3 : $T
      %product = arith.mulf %c0_33333, %sum2 : $T
      affine.store %product, %A[%i] : !N
    }
  }
  return
}
