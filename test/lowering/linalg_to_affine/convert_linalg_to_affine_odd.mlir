// RUN: dlc-opt %s --convert-linalg-to-affine --split-input-file --verify-diagnostics | filecheck %s
// Marks that name no dims, buffers without rank, and an op in the body of another.

// CHECK-LABEL: func.func @names(
// CHECK: affine.for
func.func @names(%s: f32 {dl.dims = ["n"]}, %x: memref<?xf32> {dl.dims = "n"}, %y: memref<?xf32> {dl.dims = ["n", "m"]}) {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @unranked(
// CHECK: memref.copy
// CHECK: %[[Z:.*]] = memref.cast
// CHECK: memref.dim %[[Z]]
// CHECK: affine.for
func.func @unranked(%x: memref<*xf32>, %y: memref<*xf32>) {
  memref.copy %x, %y : memref<*xf32> to memref<*xf32>
  %z = memref.cast %x : memref<*xf32> to memref<?xf32>
  linalg.exp ins(%z : memref<?xf32>) outs(%z : memref<?xf32>)
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @nested(%x: memref<4xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%a: f32):
    // expected-error@+1 {{'linalg.fill' lies in the body of another linalg op; move it out of there}}
    linalg.fill ins(%a : f32) outs(%s : memref<f32>)
    linalg.yield %a : f32
  }
  return
}
