// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file | filecheck %s
// A failed cf.assert calls the runtime, with the two sizes that it compares where it compares sizes.

// CHECK: llvm.mlir.global internal constant @dlc_message_0("x is {} but y is {}\00")
// CHECK-LABEL: llvm.func @_mlir_ciface_sizes(
// CHECK-SAME: %[[N:.*]]: i64, %[[M:.*]]: i64)
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @dlc_message_0
// CHECK: llvm.icmp "eq" %[[N]], %[[M]]
// CHECK: llvm.cond_br
// CHECK: llvm.call @dlc_raise_dims(%[[TEXT]], %[[N]], %[[M]]) : (!llvm.ptr, i64, i64) -> ()
// CHECK: llvm.return
func.func @sizes(%n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %same = arith.cmpi eq, %n, %m : index
  %single = arith.cmpi eq, %n, %c1 : index
  %fits = arith.ori %same, %single : i1
  cf.assert %fits, "x is {} but y is {}"
  return
}

// -----

// CHECK-LABEL: llvm.func @_mlir_ciface_any_condition(
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @dlc_message_0
// CHECK: llvm.call @dlc_raise(%[[TEXT]]) : (!llvm.ptr) -> ()
// CHECK-NOT: @abort
func.func @any_condition(%holds: i1) {
  cf.assert %holds, "does not hold"
  return
}

// -----

// CHECK-LABEL: llvm.func @_mlir_ciface_no_assertion(
// CHECK-NOT: dlc_raise
func.func @no_assertion(%x: i1) -> i1 {
  return %x : i1
}
