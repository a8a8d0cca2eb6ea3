// RUN: dlc-opt %s --affine-fold-index-order | filecheck %s
// In the order of the loop no later index is smaller; refuses nothing.

// CHECK-LABEL: func.func private @earlier(
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: arith.ori %{{.*}}, %[[FALSE]]
func.func private @earlier(%x: memref<64xf32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %low = arith.constant 0xFF800000 : f32
  %r:2 = affine.for %i = 0 to 64 iter_args(%a = %low, %best = %c0) -> (f32, i32) {
    %v = affine.load %x[%i] : memref<64xf32>
    %at = arith.index_cast %i : index to i32
    %g = arith.cmpf ogt, %v, %a : f32
    %c = arith.cmpi slt, %at, %best : i32
    %t = arith.ori %g, %c : i1
    %m = arith.select %t, %v, %a : f32
    %p = arith.select %t, %at, %best : i32
    affine.yield %m, %p : f32, i32
  }
  return %r#1 : i32
}

// no-match: a start that may be large, an index that may have wrapped, the last of equal ones, another value.
// CHECK-LABEL: func.func private @others(
// CHECK-COUNT-4: arith.cmpi
func.func private @others(%x: memref<?xi1>, %start: i32, %n: index) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %a = affine.for %i = 0 to 64 iter_args(%best = %start) -> (i32) {
    %at = arith.index_cast %i : index to i32
    %c = arith.cmpi slt, %at, %best : i32
    %p = arith.select %c, %at, %best : i32
    affine.yield %p : i32
  }
  %b = affine.for %i = 0 to %n iter_args(%best = %c0) -> (i32) {
    %at = arith.index_cast %i : index to i32
    %c = arith.cmpi slt, %at, %best : i32
    %p = arith.select %c, %at, %best : i32
    affine.yield %p : i32
  }
  %d = affine.for %i = 0 to 64 iter_args(%best = %c0) -> (i32) {
    %at = arith.index_cast %i : index to i32
    %c = arith.cmpi sgt, %at, %best : i32
    %p = arith.select %c, %at, %best : i32
    affine.yield %p : i32
  }
  %e = affine.for %i = 0 to 64 iter_args(%best = %c0) -> (i32) {
    %at = arith.index_cast %i : index to i32
    %c = arith.cmpi slt, %at, %best : i32
    %s = arith.addi %at, %at : i32
    %p = arith.select %c, %s, %best : i32
    affine.yield %p : i32
  }
  return %a, %b, %d, %e : i32, i32, i32, i32
}
