// RUN: dlc-opt %s --affine-apply-steps --split-input-file --verify-diagnostics | filecheck %s
// The steps of a kernel change its loops; sums are values again afterwards, and loops that no step names stay.

// The epilogue gets loops of its own. The second nest is not touched.
// CHECK-LABEL: func.func @unfuse(
// CHECK-SAME: %[[SUMS:[^:]*]]: memref<4x8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes {dl.kernel} {
// CHECK: affine.for %[[I:.*]] = 0 to 4 {
// CHECK:   affine.for %[[J:.*]] = 0 to 8 {
// CHECK:     %[[SUM:.*]] = affine.for {{.*}} iter_args
// CHECK:     affine.store %[[SUM]], %[[SUMS]][%[[I]], %[[J]]]
// CHECK:   } {{{.*}}dlc.parallel}
// CHECK:   affine.for %[[K:.*]] = 0 to 8 {
// CHECK:     affine.load %[[SUMS]][%[[I]], %[[K]]]
// CHECK:     math.exp
// CHECK:   } {{{.*}}dlc.parallel}
// CHECK: } {dlc.as_written, dlc.parallel}
// CHECK: affine.for
// CHECK:   arith.negf
// CHECK: } {dlc.parallel}
func.func @unfuse(%A: memref<4x16xf32> {llvm.noalias}, %B: memref<16x8xf32> {llvm.noalias}, %C: memref<4x8xf32> {llvm.noalias},
                  %D: memref<8xf32> {llvm.noalias}) attributes {dl.kernel, dlc.steps = ["distribute('S0:1', before=['S2'])"]} {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %sum = affine.for %k = 0 to 16 iter_args(%s = %zero) -> (f32) {
        %a = affine.load %A[%i, %k] : memref<4x16xf32>
        %b = affine.load %B[%k, %j] : memref<16x8xf32>
        %x = arith.mulf %a, %b : f32
        %y = arith.addf %s, %x : f32
        affine.yield %y : f32
      }
      %e = math.exp %sum : f32
      affine.store %e, %C[%i, %j] : memref<4x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %d = affine.load %D[%i] : memref<8xf32>
    %n = arith.negf %d : f32
    affine.store %n, %D[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// -----

// expected-error@below {{step 1 of its schedule, parallelize(b): the new order would run S0[i0=3]}}
func.func @illegal(%A: memref<100xf32>) attributes {dl.kernel, dlc.steps = ["a, b = peel('S0:0')", "parallelize(b)"]} {
  affine.for %i = 1 to 100 {
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  }
  return
}

// -----

func.func @no_nest(%A: memref<100xf32>) attributes {dl.kernel, dlc.steps = ["tile_registers('S0:0', lanes=8)"]} {
  // expected-error@below {{loop 'S0_0' is no nest for register tiles}}
  affine.for %i = 1 to 100 {
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  }
  return
}

// -----

// expected-error@below {{'lanes' of affine-set-register-tile is 2.5; give a value of type int, numbers of 64 bits}}
func.func @no_number(%A: memref<100xf32>) attributes {dl.kernel, dlc.steps = ["tile_registers('S0:0', lanes=2.5)"]} {
  %c = arith.constant 0.0 : f32
  affine.for %i = 0 to 100 {
    affine.store %c, %A[%i] : memref<100xf32>
  } {dlc.parallel}
  return
}

// -----

// expected-error@below {{the steps of its schedule: line 1: neither MLIR nor Python}}
func.func @no_step(%A: memref<100xf32>) attributes {dl.kernel, dlc.steps = ["nonsense("]} {
  %c = arith.constant 0.0 : f32
  affine.for %i = 0 to 100 {
    affine.store %c, %A[%i] : memref<100xf32>
  } {dlc.parallel}
  return
}

// -----

// no-match: a kernel without steps stays as it is.
// CHECK-LABEL: func.func @no_steps(
// CHECK-NEXT: return
func.func @no_steps(%A: memref<4xf32>) attributes {dl.kernel} {
  return
}

// -----

// expected-error@+1 {{'dlc.steps' is no array of texts; give one step in each}}
func.func @no_texts() attributes {dlc.steps = [3 : i64]} {
  return
}
