// Electric and magnetic fields in two dimensions by finite differences in time (PolyBench/C 4.2.1, stencils).
!NXxNY = memref<${NX}x${NY}x$T>
!TMAX = memref<${TMAX}x$T>
func.func @kernel_fdtd_2d(
    %ex: !NXxNY {llvm.noalias}, %ey: !NXxNY {llvm.noalias}, %hz: !NXxNY {llvm.noalias}, %fict: !TMAX {llvm.noalias}) {
  %c0_5 = arith.constant 0.5 : $T
  %c0_7 = arith.constant 0.7 : $T
  affine.for %t = 0 to $TMAX {
    affine.for %j = 0 to $NY {
      // ey[0][j] = fict[t]
      %fict2 = affine.load %fict[%t] : !TMAX
      affine.store %fict2, %ey[0, %j] : !NXxNY
    }
    affine.for %i = 1 to $NX {
      affine.for %j = 0 to $NY {
        // ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j])
        %ey2 = affine.load %ey[%i, %j] : !NXxNY
        %hz2 = affine.load %hz[%i, %j] : !NXxNY
        %hz3 = affine.load %hz[%i - 1, %j] : !NXxNY
        %difference = arith.subf %hz2, %hz3 : $T
        %product = arith.mulf %c0_5, %difference : $T
        %difference2 = arith.subf %ey2, %product : $T
        affine.store %difference2, %ey[%i, %j] : !NXxNY
      }
    }
    affine.for %i = 0 to $NX {
      affine.for %j = 1 to $NY {
        // ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1])
        %ex2 = affine.load %ex[%i, %j] : !NXxNY
        %hz2 = affine.load %hz[%i, %j] : !NXxNY
        %hz3 = affine.load %hz[%i, %j - 1] : !NXxNY
        %difference = arith.subf %hz2, %hz3 : $T
        %product = arith.mulf %c0_5, %difference : $T
        %difference2 = arith.subf %ex2, %product : $T
        affine.store %difference2, %ex[%i, %j] : !NXxNY
      }
    }
    affine.for %i = 0 to affine_map<() -> ($NX - 1)>() {
      affine.for %j = 0 to affine_map<() -> ($NY - 1)>() {
        // hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
        %hz2 = affine.load %hz[%i, %j] : !NXxNY
        %ex2 = affine.load %ex[%i, %j + 1] : !NXxNY
        %ex3 = affine.load %ex[%i, %j] : !NXxNY
        %difference = arith.subf %ex2, %ex3 : $T
        %ey2 = affine.load %ey[%i + 1, %j] : !NXxNY
        %sum = arith.addf %difference, %ey2 : $T
        %ey3 = affine.load %ey[%i, %j] : !NXxNY
        %difference2 = arith.subf %sum, %ey3 : $T
        %product = arith.mulf %c0_7, %difference2 : $T
        %difference3 = arith.subf %hz2, %product : $T
        affine.store %difference3, %hz[%i, %j] : !NXxNY
      }
    }
  }
  return
}
