// RUN: dlc-opt %s --linalg-materialize-copies | filecheck %s
// Strided copies become linalg ops; contiguous ones stay. The pass refuses nothing.

// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<?x4xf32, strided<[8, 1]>>)
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[A]] : memref<?x4xf32>) outs(%[[B]] : memref<?x4xf32, strided<[8, 1]>>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]] : f32
// CHECK-NOT: memref.copy
func.func @strided(%a: memref<?x4xf32>, %b: memref<?x4xf32, strided<[8, 1]>>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32, strided<[8, 1]>>
  return
}

// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.generic
func.func @transposed(%a: memref<3x4xi8, strided<[1, 3], offset: 2>>, %b: memref<3x4xi8>) {
  memref.copy %a, %b : memref<3x4xi8, strided<[1, 3], offset: 2>> to memref<3x4xi8>
  return
}

// CHECK-LABEL: func.func @no_match(
// CHECK-NOT: linalg
// CHECK: memref.copy
// CHECK: memref.copy
// CHECK: memref.copy
func.func @no_match(%a: memref<?x4xf32>, %b: memref<?x4xf32>, %c: memref<?x4xf32, strided<[4, 1], offset: ?>>,
                    %s: memref<f32>, %t: memref<f32, strided<[], offset: ?>>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %a, %c : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %s, %t : memref<f32> to memref<f32, strided<[], offset: ?>>
  return
}
