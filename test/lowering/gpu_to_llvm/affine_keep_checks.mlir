// RUN: dlc-opt %s --affine-keep-checks --convert-affine-to-gpu | filecheck %s
// Functions of checks stay on the CPU and say why. The pass refuses nothing.

// CHECK-LABEL: func.func private @gather_checks(
// CHECK-SAME: dlc.on_cpu = "a check that fails on the GPU would end all work of the process there"
// CHECK-NOT: dlc.checks
// CHECK-NOT: gpu.launch
// CHECK: cf.assert
func.func private @gather_checks(%ids: memref<16xi64>) attributes {dlc.checks} {
  %least = arith.constant -1 : i64
  %c49 = arith.constant 49 : i64
  %largest = affine.for %i = 0 to 16 iter_args(%m = %least) -> i64 {
    %id = affine.load %ids[%i] : memref<16xi64>
    %new = arith.maxsi %m, %id : i64
    affine.yield %new : i64
  }
  %ok = arith.cmpi sle, %largest, %c49 : i64
  cf.assert %ok, "an index is too large"
  return
}

// no-match: a function that does more than check.
// CHECK-LABEL: func.func private @other(
// CHECK-NOT: dlc.on_cpu
func.func private @other(%a: memref<4xf32>) {
  return
}
