// RUN: dlc-opt %s --convert-affine-to-llvm | filecheck %s
// Sizes are computed once more in f64: one that 64 bits cannot count asks for more memory than there is.

// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i64, %[[M:[a-z0-9]+]]: i64
// CHECK-DAG: %[[COUNT:.*]] = llvm.mul %[[M]], %[[N]]
// CHECK-DAG: %[[BYTES:.*]] = llvm.ptrtoint
// CHECK-DAG: %[[NF:.*]] = llvm.sitofp %[[N]] : i64 to f64
// CHECK-DAG: %[[MF:.*]] = llvm.sitofp %[[M]] : i64 to f64
// CHECK: %[[COUNTF:.*]] = llvm.fmul %[[MF]], %[[NF]]
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4.000000e+00 : f64)
// CHECK: %[[EXACT:.*]] = llvm.fmul %[[COUNTF]], %[[FOUR]]
// CHECK: %[[POSITIVE:.*]] = llvm.fcmp "oge" %[[EXACT]]
// CHECK: %[[SMALL:.*]] = llvm.fcmp "olt" %[[EXACT]]
// CHECK: %[[FITS:.*]] = llvm.and %[[POSITIVE]], %[[SMALL]]
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: %[[CHECKED:.*]] = llvm.select %[[FITS]], %[[BYTES]], %[[NONE]]
// CHECK: llvm.call @_mlir_memref_to_llvm_alloc(%[[CHECKED]])
func.func @kernel(%n: index, %m: index) -> memref<?x?xf32> attributes {dl.kernel} {
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  return %a : memref<?x?xf32>
}

// no-match: a size that is known.
// CHECK-LABEL: llvm.func @static(
// CHECK-NOT: llvm.sitofp
// CHECK: llvm.call @_mlir_memref_to_llvm_alloc(
func.func @static() -> memref<16xf32> attributes {dl.kernel} {
  %a = memref.alloc() : memref<16xf32>
  return %a : memref<16xf32>
}
