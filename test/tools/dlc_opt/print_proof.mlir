// RUN: dlc-opt %s --pass-pipeline="builtin.module(func.func(affine-polyhedral-schedule))" --print-proof 2>&1 | filecheck %s
// RUN: dlc-opt %s --affine-polyhedral-schedule 2>&1 | filecheck %s --check-prefix=QUIET

// Columns become rows: loops before, dependences, loops after.
// CHECK: function @columns
// CHECK-NEXT: before
// CHECK-NEXT: for (c0 = 0; c0 <= 31; c0 += 1)
// CHECK-NEXT: for (c1 = 0; c1 <= 63; c1 += 1)
// CHECK-NEXT: S0(c0, c1);
// CHECK: statements
// CHECK-NEXT: S0[j, i] at print_proof.mlir:24:7
// CHECK: flow {{.*}} S0[j' = j, i' = 1 + i]
// CHECK-NEXT: distance (0, 1), carried by i
// CHECK: after
// CHECK: // parallel
// CHECK: // lanes
// CHECK: proof: the sink of each dependence (1 flow
// QUIET-NOT: proof
func.func @columns(%A: memref<65x32xf32> {llvm.noalias}) {
  affine.for %j = 0 to 32 {
    affine.for %i = 0 to 64 {
      %a = affine.load %A[%i, %j] : memref<65x32xf32>
      %s = arith.addf %a, %a : f32
      affine.store %s, %A[%i + 1, %j] : memref<65x32xf32>
    }
  }
  return
}
