// RUN: dlc-opt %s --pass-pipeline="builtin.module(affine-outline-parallel{min-work=1000})" | filecheck %s
// The record of a task holds a pointer for each static buffer in row-major order, whose task is told the rest by its type, and a
// descriptor for any other. The pass refuses nothing.

// CHECK-LABEL: func.func @static_and_open(
// CHECK-SAME: %[[X:.*]]: memref<64x100xf32>, %[[Y:.*]]: memref<64x?xf32>)
// CHECK: llvm.alloca %{{.*}} x !llvm.struct<(ptr, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK: %[[D:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<64x100xf32> to
// CHECK: %[[P:.*]] = llvm.extractvalue %[[D]][1]
// CHECK: llvm.store %[[P]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[E:.*]] = builtin.unrealized_conversion_cast %[[Y]] : memref<64x?xf32> to
// CHECK: llvm.store %[[E]], %{{.*}} : !llvm.struct<
// CHECK-LABEL: func.func private @static_and_open_task0(
// CHECK: %[[Q:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.insertvalue %[[Q]], %{{.*}}[1]
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<64x100xf32>
// CHECK: %[[N:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<64x?xf32>
// CHECK: call @static_and_open_body0(%[[M]], %[[N]],
func.func @static_and_open(%x: memref<64x100xf32>, %y: memref<64x?xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 100 {
      %v = affine.load %x[%i, %j] : memref<64x100xf32>
      affine.store %v, %y[%i, %j] : memref<64x?xf32>
    }
  } {dlc.parallel}
  return
}
