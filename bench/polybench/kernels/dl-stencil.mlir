// 3x3 mean of each channel, along rows into T1 and then along columns; X is padded: HP = H + 2, WP = W + 2.
!NCxHxW = memref<${NC}x${H}x${W}x$T>
!NCxHPxW = memref<${NC}x${HP}x${W}x$T>
!NCxHPxWP = memref<${NC}x${HP}x${WP}x$T>
func.func @kernel_dl_stencil(%Y: !NCxHxW {llvm.noalias}, %T1: !NCxHPxW {llvm.noalias}, %X: !NCxHPxWP {llvm.noalias}) {
  %c3_0 = arith.constant 3.0 : $T
  affine.for %c = 0 to $NC {
    affine.for %i = 0 to $HP {
      affine.for %j = 0 to $W {
        // T1[c][i][j] = (X[c][i][j] + X[c][i][j + 1] + X[c][i][j + 2]) / 3.0
        %x = affine.load %X[%c, %i, %j] : !NCxHPxWP
        %x2 = affine.load %X[%c, %i, %j + 1] : !NCxHPxWP
        %sum = arith.addf %x, %x2 : $T
        %x3 = affine.load %X[%c, %i, %j + 2] : !NCxHPxWP
        %sum2 = arith.addf %sum, %x3 : $T
        %quotient = arith.divf %sum2, %c3_0 : $T
        affine.store %quotient, %T1[%c, %i, %j] : !NCxHPxW
      }
    }
  }
  affine.for %c = 0 to $NC {
    affine.for %i = 0 to $H {
      affine.for %j = 0 to $W {
        // Y[c][i][j] = (T1[c][i][j] + T1[c][i + 1][j] + T1[c][i + 2][j]) / 3.0
        %t1 = affine.load %T1[%c, %i, %j] : !NCxHPxW
        %t1_2 = affine.load %T1[%c, %i + 1, %j] : !NCxHPxW
        %sum = arith.addf %t1, %t1_2 : $T
        %t1_3 = affine.load %T1[%c, %i + 2, %j] : !NCxHPxW
        %sum2 = arith.addf %sum, %t1_3 : $T
        %quotient = arith.divf %sum2, %c3_0 : $T
        affine.store %quotient, %Y[%c, %i, %j] : !NCxHxW
      }
    }
  }
  return
}
