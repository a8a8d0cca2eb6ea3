// Deriche's recursive smoothing filter, along rows and then columns (PolyBench/C 4.2.1, medley).
!WxH = memref<${W}x${H}x$T>
func.func @kernel_deriche(
    %alpha: $T, %imgIn: !WxH {llvm.noalias}, %imgOut: !WxH {llvm.noalias}, %y1: !WxH {llvm.noalias},
    %y2: !WxH {llvm.noalias}) {
  %one = arith.constant 1.0 : $T
  %two = arith.constant 2.0 : $T
  %zero = arith.constant 0.0 : $T
  %negated = arith.negf %alpha : $T
  %exponential = math.exp %negated : $T
  %difference = arith.subf %one, %exponential : $T
  %negated2 = arith.negf %alpha : $T
  %exponential2 = math.exp %negated2 : $T
  %difference2 = arith.subf %one, %exponential2 : $T
  %product = arith.mulf %difference, %difference2 : $T
  %product2 = arith.mulf %two, %alpha : $T
  %negated3 = arith.negf %alpha : $T
  %exponential3 = math.exp %negated3 : $T
  %product3 = arith.mulf %product2, %exponential3 : $T
  %sum = arith.addf %one, %product3 : $T
  %product4 = arith.mulf %two, %alpha : $T
  %exponential4 = math.exp %product4 : $T
  %difference3 = arith.subf %sum, %exponential4 : $T
  %k = arith.divf %product, %difference3 : $T
  %negated4 = arith.negf %alpha : $T
  %exponential5 = math.exp %negated4 : $T
  %product5 = arith.mulf %k, %exponential5 : $T
  %difference4 = arith.subf %alpha, %one : $T
  %a2 = arith.mulf %product5, %difference4 : $T
  %negated5 = arith.negf %alpha : $T
  %exponential6 = math.exp %negated5 : $T
  %product6 = arith.mulf %k, %exponential6 : $T
  %sum2 = arith.addf %alpha, %one : $T
  %a3 = arith.mulf %product6, %sum2 : $T
  %negated6 = arith.negf %k : $T
  %negated7 = arith.negf %two : $T
  %product7 = arith.mulf %negated7, %alpha : $T
  %exponential7 = math.exp %product7 : $T
  %a4 = arith.mulf %negated6, %exponential7 : $T
  %negated8 = arith.negf %alpha : $T
  %b1 = math.powf %two, %negated8 : $T
  %negated9 = arith.negf %two : $T
  %product8 = arith.mulf %negated9, %alpha : $T
  %exponential8 = math.exp %product8 : $T
  %b2 = arith.negf %exponential8 : $T
  affine.for %i = 0 to $W {
    %ym1 = memref.alloca() : memref<$T>
    %ym2 = memref.alloca() : memref<$T>
    %xm1 = memref.alloca() : memref<$T>
    // ym1 = 0.0
    affine.store %zero, %ym1[] : memref<$T>
    // ym2 = 0.0
    affine.store %zero, %ym2[] : memref<$T>
    // xm1 = 0.0
    affine.store %zero, %xm1[] : memref<$T>
    affine.for %j = 0 to $H {
      // y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2
      %imgin = affine.load %imgIn[%i, %j] : !WxH
      %product9 = arith.mulf %k, %imgin : $T
      %xm1_2 = affine.load %xm1[] : memref<$T>
      %product10 = arith.mulf %a2, %xm1_2 : $T
      %sum3 = arith.addf %product9, %product10 : $T
      %ym1_2 = affine.load %ym1[] : memref<$T>
      %product11 = arith.mulf %b1, %ym1_2 : $T
      %sum4 = arith.addf %sum3, %product11 : $T
      %ym2_2 = affine.load %ym2[] : memref<$T>
      %product12 = arith.mulf %b2, %ym2_2 : $T
      %sum5 = arith.addf %sum4, %product12 : $T
      affine.store %sum5, %y1[%i, %j] : !WxH
      // xm1 = imgIn[i][j]
      %imgin2 = affine.load %imgIn[%i, %j] : !WxH
      affine.store %imgin2, %xm1[] : memref<$T>
      // ym2 = ym1
      %ym1_3 = affine.load %ym1[] : memref<$T>
      affine.store %ym1_3, %ym2[] : memref<$T>
      // ym1 = y1[i][j]
      %y1_2 = affine.load %y1[%i, %j] : !WxH
      affine.store %y1_2, %ym1[] : memref<$T>
    }
  }
  affine.for %i = 0 to $W {
    %yp1 = memref.alloca() : memref<$T>
    %yp2 = memref.alloca() : memref<$T>
    %xp1 = memref.alloca() : memref<$T>
    %xp2 = memref.alloca() : memref<$T>
    // yp1 = 0.0
    affine.store %zero, %yp1[] : memref<$T>
    // yp2 = 0.0
    affine.store %zero, %yp2[] : memref<$T>
    // xp1 = 0.0
    affine.store %zero, %xp1[] : memref<$T>
    // xp2 = 0.0
    affine.store %zero, %xp2[] : memref<$T>
    affine.for %jr = 0 to $H {  // j = H - 1 - jr
      // y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
      %xp1_2 = affine.load %xp1[] : memref<$T>
      %product9 = arith.mulf %a3, %xp1_2 : $T
      %xp2_2 = affine.load %xp2[] : memref<$T>
      %product10 = arith.mulf %a4, %xp2_2 : $T
      %sum3 = arith.addf %product9, %product10 : $T
      %yp1_2 = affine.load %yp1[] : memref<$T>
      %product11 = arith.mulf %b1, %yp1_2 : $T
      %sum4 = arith.addf %sum3, %product11 : $T
      %yp2_2 = affine.load %yp2[] : memref<$T>
      %product12 = arith.mulf %b2, %yp2_2 : $T
      %sum5 = arith.addf %sum4, %product12 : $T
      affine.store %sum5, %y2[%i, $H - 1 - %jr] : !WxH
      // xp2 = xp1
      %xp1_3 = affine.load %xp1[] : memref<$T>
      affine.store %xp1_3, %xp2[] : memref<$T>
      // xp1 = imgIn[i][j]
      %imgin = affine.load %imgIn[%i, $H - 1 - %jr] : !WxH
      affine.store %imgin, %xp1[] : memref<$T>
      // yp2 = yp1
      %yp1_3 = affine.load %yp1[] : memref<$T>
      affine.store %yp1_3, %yp2[] : memref<$T>
      // yp1 = y2[i][j]
      %y2_2 = affine.load %y2[%i, $H - 1 - %jr] : !WxH
      affine.store %y2_2, %yp1[] : memref<$T>
    }
  }
  affine.for %i = 0 to $W {
    affine.for %j = 0 to $H {
      // imgOut[i][j] = c1 * (y1[i][j] + y2[i][j])
      %y1_2 = affine.load %y1[%i, %j] : !WxH
      %y2_2 = affine.load %y2[%i, %j] : !WxH
      %sum3 = arith.addf %y1_2, %y2_2 : $T
      %product9 = arith.mulf %one, %sum3 : $T
      affine.store %product9, %imgOut[%i, %j] : !WxH
    }
  }
  affine.for %j = 0 to $H {
    %tm1 = memref.alloca() : memref<$T>
    %ym1 = memref.alloca() : memref<$T>
    %ym2 = memref.alloca() : memref<$T>
    // tm1 = 0.0
    affine.store %zero, %tm1[] : memref<$T>
    // ym1 = 0.0
    affine.store %zero, %ym1[] : memref<$T>
    // ym2 = 0.0
    affine.store %zero, %ym2[] : memref<$T>
    affine.for %i = 0 to $W {
      // y1[i][j] = a5 * imgOut[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2
      %imgout = affine.load %imgOut[%i, %j] : !WxH
      %product9 = arith.mulf %k, %imgout : $T
      %tm1_2 = affine.load %tm1[] : memref<$T>
      %product10 = arith.mulf %a2, %tm1_2 : $T
      %sum3 = arith.addf %product9, %product10 : $T
      %ym1_2 = affine.load %ym1[] : memref<$T>
      %product11 = arith.mulf %b1, %ym1_2 : $T
      %sum4 = arith.addf %sum3, %product11 : $T
      %ym2_2 = affine.load %ym2[] : memref<$T>
      %product12 = arith.mulf %b2, %ym2_2 : $T
      %sum5 = arith.addf %sum4, %product12 : $T
      affine.store %sum5, %y1[%i, %j] : !WxH
      // tm1 = imgOut[i][j]
      %imgout2 = affine.load %imgOut[%i, %j] : !WxH
      affine.store %imgout2, %tm1[] : memref<$T>
      // ym2 = ym1
      %ym1_3 = affine.load %ym1[] : memref<$T>
      affine.store %ym1_3, %ym2[] : memref<$T>
      // ym1 = y1[i][j]
      %y1_2 = affine.load %y1[%i, %j] : !WxH
      affine.store %y1_2, %ym1[] : memref<$T>
    }
  }
  affine.for %j = 0 to $H {
    %tp1 = memref.alloca() : memref<$T>
    %tp2 = memref.alloca() : memref<$T>
    %yp1 = memref.alloca() : memref<$T>
    %yp2 = memref.alloca() : memref<$T>
    // tp1 = 0.0
    affine.store %zero, %tp1[] : memref<$T>
    // tp2 = 0.0
    affine.store %zero, %tp2[] : memref<$T>
    // yp1 = 0.0
    affine.store %zero, %yp1[] : memref<$T>
    // yp2 = 0.0
    affine.store %zero, %yp2[] : memref<$T>
    affine.for %ir = 0 to $W {  // i = W - 1 - ir
      // y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
      %tp1_2 = affine.load %tp1[] : memref<$T>
      %product9 = arith.mulf %a3, %tp1_2 : $T
      %tp2_2 = affine.load %tp2[] : memref<$T>
      %product10 = arith.mulf %a4, %tp2_2 : $T
      %sum3 = arith.addf %product9, %product10 : $T
      %yp1_2 = affine.load %yp1[] : memref<$T>
      %product11 = arith.mulf %b1, %yp1_2 : $T
      %sum4 = arith.addf %sum3, %product11 : $T
      %yp2_2 = affine.load %yp2[] : memref<$T>
      %product12 = arith.mulf %b2, %yp2_2 : $T
      %sum5 = arith.addf %sum4, %product12 : $T
      affine.store %sum5, %y2[$W - 1 - %ir, %j] : !WxH
      // tp2 = tp1
      %tp1_3 = affine.load %tp1[] : memref<$T>
      affine.store %tp1_3, %tp2[] : memref<$T>
      // tp1 = imgOut[i][j]
      %imgout = affine.load %imgOut[$W - 1 - %ir, %j] : !WxH
      affine.store %imgout, %tp1[] : memref<$T>
      // yp2 = yp1
      %yp1_3 = affine.load %yp1[] : memref<$T>
      affine.store %yp1_3, %yp2[] : memref<$T>
      // yp1 = y2[i][j]
      %y2_2 = affine.load %y2[$W - 1 - %ir, %j] : !WxH
      affine.store %y2_2, %yp1[] : memref<$T>
    }
  }
  affine.for %i = 0 to $W {
    affine.for %j = 0 to $H {
      // imgOut[i][j] = c2 * (y1[i][j] + y2[i][j])
      %y1_2 = affine.load %y1[%i, %j] : !WxH
      %y2_2 = affine.load %y2[%i, %j] : !WxH
      %sum3 = arith.addf %y1_2, %y2_2 : $T
      %product9 = arith.mulf %one, %sum3 : $T
      affine.store %product9, %imgOut[%i, %j] : !WxH
    }
  }
  return
}
