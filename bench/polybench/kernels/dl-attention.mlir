// O = softmax(scale Q K') V for NH heads of S queries and keys; P holds the scores.
!NHxSxD = memref<${NH}x${S}x${D}x$T>
!NHxSxS = memref<${NH}x${S}x${S}x$T>
!NHxS = memref<${NH}x${S}x$T>
func.func @kernel_dl_attention(
    %scale: $T, %O: !NHxSxD {llvm.noalias}, %P: !NHxSxS {llvm.noalias}, %Q: !NHxSxD {llvm.noalias},
    %K: !NHxSxD {llvm.noalias}, %V: !NHxSxD {llvm.noalias}, %top: !NHxS {llvm.noalias}, %total: !NHxS {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %h = 0 to $NH {
    affine.for %i = 0 to $S {
      affine.for %j = 0 to $S {
        // P[h][i][j] = 0.0
        affine.store %zero, %P[%h, %i, %j] : !NHxSxS
        affine.for %d = 0 to $D {
          // P[h][i][j] += Q[h][i][d] * K[h][j][d]
          %p = affine.load %P[%h, %i, %j] : !NHxSxS
          %q = affine.load %Q[%h, %i, %d] : !NHxSxD
          %k = affine.load %K[%h, %j, %d] : !NHxSxD
          %product = arith.mulf %q, %k : $T
          %new = arith.addf %p, %product : $T
          affine.store %new, %P[%h, %i, %j] : !NHxSxS
        }
        // P[h][i][j] *= scale
        %p = affine.load %P[%h, %i, %j] : !NHxSxS
        %new = arith.mulf %p, %scale : $T
        affine.store %new, %P[%h, %i, %j] : !NHxSxS
      }
    }
  }
  affine.for %h = 0 to $NH {
    affine.for %i = 0 to $S {
      // top[h][i] = P[h][i][0]
      %p = affine.load %P[%h, %i, 0] : !NHxSxS
      affine.store %p, %top[%h, %i] : !NHxS
      affine.for %j = 1 to $S {
        // top[h][i] = maximum(top[h][i], P[h][i][j])
        %top2 = affine.load %top[%h, %i] : !NHxS
        %p2 = affine.load %P[%h, %i, %j] : !NHxSxS
        %largest = arith.maximumf %top2, %p2 : $T
        affine.store %largest, %top[%h, %i] : !NHxS
      }
    }
  }
  affine.for %h = 0 to $NH {
    affine.for %i = 0 to $S {
      // total[h][i] = 0.0
      affine.store %zero, %total[%h, %i] : !NHxS
      affine.for %j = 0 to $S {
        // P[h][i][j] = exp(P[h][i][j] - top[h][i])
        %p = affine.load %P[%h, %i, %j] : !NHxSxS
        %top2 = affine.load %top[%h, %i] : !NHxS
        %difference = arith.subf %p, %top2 : $T
        %exponential = math.exp %difference : $T
        affine.store %exponential, %P[%h, %i, %j] : !NHxSxS
        // total[h][i] += P[h][i][j]
        %total2 = affine.load %total[%h, %i] : !NHxS
        %p2 = affine.load %P[%h, %i, %j] : !NHxSxS
        %new = arith.addf %total2, %p2 : $T
        affine.store %new, %total[%h, %i] : !NHxS
      }
    }
  }
  affine.for %h = 0 to $NH {
    affine.for %i = 0 to $S {
      affine.for %j = 0 to $S {
        // P[h][i][j] = P[h][i][j] / total[h][i]
        %p = affine.load %P[%h, %i, %j] : !NHxSxS
        %total2 = affine.load %total[%h, %i] : !NHxS
        %quotient = arith.divf %p, %total2 : $T
        affine.store %quotient, %P[%h, %i, %j] : !NHxSxS
      }
    }
  }
  affine.for %h = 0 to $NH {
    affine.for %i = 0 to $S {
      affine.for %d = 0 to $D {
        // O[h][i][d] = 0.0
        affine.store %zero, %O[%h, %i, %d] : !NHxSxD
        affine.for %j = 0 to $S {
          // O[h][i][d] += P[h][i][j] * V[h][j][d]
          %o = affine.load %O[%h, %i, %d] : !NHxSxD
          %p = affine.load %P[%h, %i, %j] : !NHxSxS
          %v = affine.load %V[%h, %j, %d] : !NHxSxD
          %product = arith.mulf %p, %v : $T
          %new = arith.addf %o, %product : $T
          affine.store %new, %O[%h, %i, %d] : !NHxSxD
        }
      }
    }
  }
  return
}
