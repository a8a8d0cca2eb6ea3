// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file --verify-diagnostics | filecheck %s
// A constant mask is a constant of each of its lanes.

// CHECK-LABEL: llvm.func @_mlir_ciface_few_lanes
// CHECK: llvm.intr.masked.store
func.func @few_lanes(%m: memref<?xf32>, %v: vector<8xf32>, %i: index) {
  %mask = vector.constant_mask [5] : vector<8xi1>
  vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return
}

// -----

func.func @vast_mask(%m: memref<?xf32>, %v: vector<4294967296xf32>, %i: index) {
  // expected-error @+1 {{a constant mask of 4294967296 lanes; use vectors of 1048576 lanes at most}}
  %mask = vector.constant_mask [4294967295] : vector<4294967296xi1>
  vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<4294967296xi1>, vector<4294967296xf32>
  return
}
