// RUN: dlc-opt %s --affine-expand-buffers | filecheck %s
// RUN: dlc-opt %s --affine-expand-buffers=limit=16 | filecheck %s --check-prefix=SMALL
// The pass refuses nothing.

// A scalar of each iteration of two loops, the second of which starts at the first one's variable.
// CHECK-LABEL: func.func @scalar
// CHECK: %[[W:.*]] = memref.alloc() : memref<8x14xf32>
// CHECK: affine.for %[[I:.*]] = 2 to 10
// CHECK:   affine.for %[[J:.*]] = {{.*}} to 16
// CHECK-NOT: alloca
// CHECK:     affine.store %arg0, %[[W]][%[[I]] - 2, %[[J]] - 2]
// CHECK:     affine.for
// CHECK:       affine.load %[[W]][%[[I]] - 2, %[[J]] - 2]
// CHECK: memref.dealloc %[[W]]
// SMALL-LABEL: func.func @scalar
// SMALL: memref.alloca() : memref<f32>
func.func @scalar(%x: f32, %m: memref<16x16xf32>) {
  affine.for %i = 2 to 10 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to 16 {
      %w = memref.alloca() : memref<f32>
      affine.store %x, %w[] : memref<f32>
      affine.for %k = 0 to 4 {
        %v = affine.load %w[] : memref<f32>
        affine.store %v, %m[%i, %k] : memref<16x16xf32>
      }
    }
  }
  return
}

// Heap memory is freed once, at the end.
// CHECK-LABEL: func.func @row
// CHECK: %[[W:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 4
// CHECK:   affine.store %arg0, %[[W]][%[[I]], 3]
// CHECK-NOT: memref.dealloc
// CHECK: }
// CHECK: memref.dealloc %[[W]]
func.func @row(%x: f32) {
  affine.for %i = 0 to 4 {
    %w = memref.alloc() : memref<8xf32>
    affine.store %x, %w[3] : memref<8xf32>
    memref.dealloc %w : memref<8xf32>
  }
  return
}

// no-match: the number of iterations is not known; somebody else gets the memory.
// CHECK-LABEL: func.func @unknown
// CHECK: affine.for
// CHECK: memref.alloca() : memref<f32>
// CHECK-LABEL: func.func @escapes
// CHECK: affine.for
// CHECK: memref.alloca() : memref<8xf32>
func.func @unknown(%x: f32, %n: index) {
  affine.for %i = 0 to %n {
    %w = memref.alloca() : memref<f32>
    affine.store %x, %w[] : memref<f32>
  }
  return
}
func.func private @user(memref<8xf32>)
func.func @escapes() {
  affine.for %i = 0 to 4 {
    %w = memref.alloca() : memref<8xf32>
    func.call @user(%w) : (memref<8xf32>) -> ()
  }
  return
}
