// Heat in two dimensions by alternating directions, implicit (PolyBench/C 4.2.1, stencils).
!NxN = memref<${N}x${N}x$T>
func.func @kernel_adi(%u: !NxN {llvm.noalias}, %v: !NxN {llvm.noalias}, %p: !NxN {llvm.noalias}, %q: !NxN {llvm.noalias}) {
  %one = arith.constant 1.0 : $T
  %N = arith.constant ${N}.0 : $T
  %TSTEPS = arith.constant ${TSTEPS}.0 : $T
  %two = arith.constant 2.0 : $T
  %zero = arith.constant 0.0 : $T
  %DX = arith.divf %one, %N : $T
  %DY = arith.divf %one, %N : $T
  %DT = arith.divf %one, %TSTEPS : $T
  %product = arith.mulf %two, %DT : $T
  %product2 = arith.mulf %DX, %DX : $T
  %mul1 = arith.divf %product, %product2 : $T
  %product3 = arith.mulf %one, %DT : $T
  %product4 = arith.mulf %DY, %DY : $T
  %mul2 = arith.divf %product3, %product4 : $T
  %negated = arith.negf %mul1 : $T
  %a = arith.divf %negated, %two : $T
  %b = arith.addf %one, %mul1 : $T
  %negated2 = arith.negf %mul2 : $T
  %d = arith.divf %negated2, %two : $T
  %e = arith.addf %one, %mul2 : $T
  affine.for %t = 1 to affine_map<() -> ($TSTEPS + 1)>() {
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      // v[0][i] = 1.0
      affine.store %one, %v[0, %i] : !NxN
      // p[i][0] = 0.0
      affine.store %zero, %p[%i, 0] : !NxN
      // q[i][0] = v[0][i]
      %v2 = affine.load %v[0, %i] : !NxN
      affine.store %v2, %q[%i, 0] : !NxN
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        // p[i][j] = -c / (a * p[i][j - 1] + b)
        %negated3 = arith.negf %a : $T
        %p2 = affine.load %p[%i, %j - 1] : !NxN
        %product5 = arith.mulf %a, %p2 : $T
        %sum = arith.addf %product5, %b : $T
        %quotient = arith.divf %negated3, %sum : $T
        affine.store %quotient, %p[%i, %j] : !NxN
        // q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) / (a * p[i][j -
        //     1] + b)
        %negated4 = arith.negf %d : $T
        %u2 = affine.load %u[%j, %i - 1] : !NxN
        %product6 = arith.mulf %negated4, %u2 : $T
        %product7 = arith.mulf %two, %d : $T
        %sum2 = arith.addf %one, %product7 : $T
        %u3 = affine.load %u[%j, %i] : !NxN
        %product8 = arith.mulf %sum2, %u3 : $T
        %sum3 = arith.addf %product6, %product8 : $T
        %u4 = affine.load %u[%j, %i + 1] : !NxN
        %product9 = arith.mulf %d, %u4 : $T
        %difference = arith.subf %sum3, %product9 : $T
        %q2 = affine.load %q[%i, %j - 1] : !NxN
        %product10 = arith.mulf %a, %q2 : $T
        %difference2 = arith.subf %difference, %product10 : $T
        %p3 = affine.load %p[%i, %j - 1] : !NxN
        %product11 = arith.mulf %a, %p3 : $T
        %sum4 = arith.addf %product11, %b : $T
        %quotient2 = arith.divf %difference2, %sum4 : $T
        affine.store %quotient2, %q[%i, %j] : !NxN
      }
      // v[N - 1][i] = 1.0
      affine.store %one, %v[$N - 1, %i] : !NxN
      affine.for %jr = 0 to affine_map<() -> ($N - 2)>() {  // j = N - 2 - jr
        // v[j][i] = p[i][j] * v[j + 1][i] + q[i][j]
        %p2 = affine.load %p[%i, $N - 2 - %jr] : !NxN
        %v3 = affine.load %v[$N - 1 - %jr, %i] : !NxN
        %product5 = arith.mulf %p2, %v3 : $T
        %q2 = affine.load %q[%i, $N - 2 - %jr] : !NxN
        %sum = arith.addf %product5, %q2 : $T
        affine.store %sum, %v[$N - 2 - %jr, %i] : !NxN
      }
    }
    affine.for %i = 1 to affine_map<() -> ($N - 1)>() {
      // u[i][0] = 1.0
      affine.store %one, %u[%i, 0] : !NxN
      // p[i][0] = 0.0
      affine.store %zero, %p[%i, 0] : !NxN
      // q[i][0] = u[i][0]
      %u2 = affine.load %u[%i, 0] : !NxN
      affine.store %u2, %q[%i, 0] : !NxN
      affine.for %j = 1 to affine_map<() -> ($N - 1)>() {
        // p[i][j] = -f / (d * p[i][j - 1] + e)
        %negated3 = arith.negf %d : $T
        %p2 = affine.load %p[%i, %j - 1] : !NxN
        %product5 = arith.mulf %d, %p2 : $T
        %sum = arith.addf %product5, %e : $T
        %quotient = arith.divf %negated3, %sum : $T
        affine.store %quotient, %p[%i, %j] : !NxN
        // q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) / (d * p[i][j -
        //     1] + e)
        %negated4 = arith.negf %a : $T
        %v2 = affine.load %v[%i - 1, %j] : !NxN
        %product6 = arith.mulf %negated4, %v2 : $T
        %product7 = arith.mulf %two, %a : $T
        %sum2 = arith.addf %one, %product7 : $T
        %v3 = affine.load %v[%i, %j] : !NxN
        %product8 = arith.mulf %sum2, %v3 : $T
        %sum3 = arith.addf %product6, %product8 : $T
        %v4 = affine.load %v[%i + 1, %j] : !NxN
        %product9 = arith.mulf %a, %v4 : $T
        %difference = arith.subf %sum3, %product9 : $T
        %q2 = affine.load %q[%i, %j - 1] : !NxN
        %product10 = arith.mulf %d, %q2 : $T
        %difference2 = arith.subf %difference, %product10 : $T
        %p3 = affine.load %p[%i, %j - 1] : !NxN
        %product11 = arith.mulf %d, %p3 : $T
        %sum4 = arith.addf %product11, %e : $T
        %quotient2 = arith.divf %difference2, %sum4 : $T
        affine.store %quotient2, %q[%i, %j] : !NxN
      }
      // u[i][N - 1] = 1.0
      affine.store %one, %u[%i, $N - 1] : !NxN
      affine.for %jr = 0 to affine_map<() -> ($N - 2)>() {  // j = N - 2 - jr
        // u[i][j] = p[i][j] * u[i][j + 1] + q[i][j]
        %p2 = affine.load %p[%i, $N - 2 - %jr] : !NxN
        %u3 = affine.load %u[%i, $N - 1 - %jr] : !NxN
        %product5 = arith.mulf %p2, %u3 : $T
        %q2 = affine.load %q[%i, $N - 2 - %jr] : !NxN
        %sum = arith.addf %product5, %q2 : $T
        affine.store %sum, %u[%i, $N - 2 - %jr] : !NxN
      }
    }
  }
  return
}
