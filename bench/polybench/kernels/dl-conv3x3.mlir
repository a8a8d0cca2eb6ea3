// 3x3 convolution of NB images with IC channels, which are padded already: HP = H + 2, WP = W + 2.
!NBxOCxHxW = memref<${NB}x${OC}x${H}x${W}x$T>
!NBxICxHPxWP = memref<${NB}x${IC}x${HP}x${WP}x$T>
!OCxICx3x3 = memref<${OC}x${IC}x3x3x$T>
func.func @kernel_dl_conv3x3(%Y: !NBxOCxHxW {llvm.noalias}, %X: !NBxICxHPxWP {llvm.noalias}, %K: !OCxICx3x3 {llvm.noalias}) {
  %zero = arith.constant 0.0 : $T
  affine.for %n = 0 to $NB {
    affine.for %o = 0 to $OC {
      affine.for %h = 0 to $H {
        affine.for %w = 0 to $W {
          // Y[n][o][h][w] = 0.0
          affine.store %zero, %Y[%n, %o, %h, %w] : !NBxOCxHxW
          affine.for %c = 0 to $IC {
            affine.for %r = 0 to 3 {
              affine.for %s = 0 to 3 {
                // Y[n][o][h][w] += X[n][c][h + r][w + s] * K[o][c][r][s]
                %y = affine.load %Y[%n, %o, %h, %w] : !NBxOCxHxW
                %x = affine.load %X[%n, %c, %h + %r, %w + %s] : !NBxICxHPxWP
                %k = affine.load %K[%o, %c, %r, %s] : !OCxICx3x3
                %product = arith.mulf %x, %k : $T
                %new = arith.addf %y, %product : $T
                affine.store %new, %Y[%n, %o, %h, %w] : !NBxOCxHxW
              }
            }
          }
        }
      }
    }
  }
  return
}
