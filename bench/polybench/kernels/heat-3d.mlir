// Heat in three dimensions, two grids in turn (PolyBench/C 4.2.1, stencils).
!NxNxN = memref<${N}x${N}x${N}x$T>
func.func @kernel_heat_3d(%A: !NxNxN {llvm.noalias}, %B: !NxNxN {llvm.noalias}) {
  %c0_125 = arith.constant 0.125 : $T
  %two = arith.constant 2.0 : $T
  affine.for %t = 1 to affine_map<() -> ($TSTEPS + 1)>() {
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        affine.for %k = 1 to affine_map<() -> ($N - 1)>() {
          // B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) + 0.125 * (A[i][j + 1][k] - 2.0 *
          //     A[i][j][k] + A[i][j - 1][k]) + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k]
          %a = affine.load %A[%i + 1, %j, %k] : !NxNxN
          %a2 = affine.load %A[%i, %j, %k] : !NxNxN
          %product = arith.mulf %two, %a2 : $T
          %difference = arith.subf %a, %product : $T
          %a3 = affine.load %A[%i - 1, %j, %k] : !NxNxN
          %sum = arith.addf %difference, %a3 : $T
          %product2 = arith.mulf %c0_125, %sum : $T
          %a4 = affine.load %A[%i, %j + 1, %k] : !NxNxN
          %a5 = affine.load %A[%i, %j, %k] : !NxNxN
          %product3 = arith.mulf %two, %a5 : $T
          %difference2 = arith.subf %a4, %product3 : $T
          %a6 = affine.load %A[%i, %j - 1, %k] : !NxNxN
          %sum2 = arith.addf %difference2, %a6 : $T
          %product4 = arith.mulf %c0_125, %sum2 : $T
          %sum3 = arith.addf %product2, %product4 : $T
          %a7 = affine.load %A[%i, %j, %k + 1] : !NxNxN
          %a8 = affine.load %A[%i, %j, %k] : !NxNxN
          %product5 = arith.mulf %two, %a8 : $T
          %difference3 = arith.subf %a7, %product5 : $T
          %a9 = affine.load %A[%i, %j, %k - 1] : !NxNxN
          %sum4 = arith.addf %difference3, %a9 : $T
          %product6 = arith.mulf %c0_125, %sum4 : $T
          %sum5 = arith.addf %sum3, %product6 : $T
          %a10 = affine.load %A[%i, %j, %k] : !NxNxN
          %sum6 = arith.addf %sum5, %a10 : $T
          affine.store %sum6, %B[%i, %j, %k] : !NxNxN
        }
      }
    }
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        affine.for %k = 1 to affine_map<() -> ($N - 1)>() {
          // A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) + 0.125 * (B[i][j + 1][k] - 2.0 *
          //     B[i][j][k] + B[i][j - 1][k]) + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k]
          %b = affine.load %B[%i + 1, %j, %k] : !NxNxN
          %b2 = affine.load %B[%i, %j, %k] : !NxNxN
          %product = arith.mulf %two, %b2 : $T
          %difference = arith.subf %b, %product : $T
          %b3 = affine.load %B[%i - 1, %j, %k] : !NxNxN
          %sum = arith.addf %difference, %b3 : $T
          %product2 = arith.mulf %c0_125, %sum : $T
          %b4 = affine.load %B[%i, %j + 1, %k] : !NxNxN
          %b5 = affine.load %B[%i, %j, %k] : !NxNxN
          %product3 = arith.mulf %two, %b5 : $T
          %difference2 = arith.subf %b4, %product3 : $T
          %b6 = affine.load %B[%i, %j - 1, %k] : !NxNxN
          %sum2 = arith.addf %difference2, %b6 : $T
          %product4 = arith.mulf %c0_125, %sum2 : $T
          %sum3 = arith.addf %product2, %product4 : $T
          %b7 = affine.load %B[%i, %j, %k + 1] : !NxNxN
          %b8 = affine.load %B[%i, %j, %k] : !NxNxN
          %product5 = arith.mulf %two, %b8 : $T
          %difference3 = arith.subf %b7, %product5 : $T
          %b9 = affine.load %B[%i, %j, %k - 1] : !NxNxN
          %sum4 = arith.addf %difference3, %b9 : $T
          %product6 = arith.mulf %c0_125, %sum4 : $T
          %sum5 = arith.addf %sum3, %product6 : $T
          %b10 = affine.load %B[%i, %j, %k] : !NxNxN
          %sum6 = arith.addf %sum5, %b10 : $T
          affine.store %sum6, %A[%i, %j, %k] : !NxNxN
        }
      }
    }
  }
  return
}
