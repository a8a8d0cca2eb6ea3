// RUN: dlc-opt %s --func-profile-calls | filecheck %s
// RUN: not dlc-opt %s --func-profile-calls --func-profile-calls 2>&1 | filecheck %s --check-prefix=TWICE
// Calls of kernels are charged to their rows, all else that public functions do to row 0.

// TWICE: error: {{.*}}the module has the attribute dl.profiled; run the pass only once

// CHECK: module attributes {dl.profiled = ["kernel_0_add", "kernel_1_mul"]}
// CHECK-DAG: func.func private @dlc_profile_start()
// CHECK-DAG: func.func private @dlc_profile_charge(i64)

// no-match: kernels stay as they are.
// CHECK-LABEL: func.func private @kernel_0_add(
// CHECK-NEXT: return
func.func private @kernel_0_add(%x: memref<4xf32>, %y: memref<4xf32>) {
  return
}
func.func private @kernel_1_mul(%x: memref<4xf32>) {
  return
}
func.func private @declared(memref<4xf32>)

// Each kernel has one row, however often it is called.
// CHECK-LABEL: func.func @entry(
// CHECK-NEXT: call @dlc_profile_start()
// CHECK-NEXT: %[[Y:.*]] = memref.alloc
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT: call @dlc_profile_charge(%[[ZERO]])
// CHECK-NEXT: call @kernel_0_add(
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NEXT: call @dlc_profile_charge(%[[ONE]])
// CHECK: call @kernel_1_mul(
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-NEXT: call @dlc_profile_charge(%[[TWO]])
// CHECK: call @kernel_0_add(
// CHECK-NEXT: %[[AGAIN:.*]] = arith.constant 1 : i64
// CHECK-NEXT: call @dlc_profile_charge(%[[AGAIN]])
// CHECK-NEXT: %[[END:.*]] = arith.constant 0 : i64
// CHECK-NEXT: call @dlc_profile_charge(%[[END]])
// CHECK-NEXT: return
func.func @entry(%x: memref<4xf32>) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  call @kernel_0_add(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  call @kernel_1_mul(%y) : (memref<4xf32>) -> ()
  call @kernel_0_add(%y, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return %y : memref<4xf32>
}

// no-match: a function of another object is no kernel.
// CHECK-LABEL: func.func @foreign(
// CHECK-NEXT: call @dlc_profile_start()
// CHECK-NEXT: call @declared(
// CHECK-NEXT: arith.constant 0
// CHECK-NEXT: call @dlc_profile_charge(
// CHECK-NEXT: return
func.func @foreign(%x: memref<4xf32>) {
  call @declared(%x) : (memref<4xf32>) -> ()
  return
}
