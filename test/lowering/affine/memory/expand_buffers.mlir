// RUN: dlc-opt %s --affine-expand-buffers | filecheck %s
// RUN: dlc-opt %s --affine-expand-buffers=limit=16 | filecheck %s --check-prefix=SMALL
// The pass refuses nothing.

// CHECK: #[[COUNT:.*]] = affine_map<(d0) -> (d0 - 3, 0)>

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

// As many places as there are iterations, some of which the run time knows: none where the bound is below 0.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[X:.*]]: f32, %[[N:.*]]: index
// CHECK: %[[S:.*]] = affine.max #[[COUNT]](%[[N]])
// CHECK: %[[W:.*]] = memref.alloc(%[[S]]) : memref<?x4xf32>
// CHECK: affine.for %[[I:.*]] = 3 to %[[N]]
// CHECK:   affine.for %[[J:.*]] = 0 to 4
// CHECK:     affine.store %[[X]], %[[W]][%[[I]] - 3, %[[J]]]
// CHECK: memref.dealloc %[[W]]
func.func @dynamic(%x: f32, %n: index) {
  affine.for %i = 3 to %n {
    affine.for %j = 0 to 4 {
      %w = memref.alloca() : memref<f32>
      affine.store %x, %w[] : memref<f32>
    }
  }
  return
}

// A range that moves with the loop around: its places are counted from the least value of all.
// CHECK-LABEL: func.func @moves
// CHECK: affine.for %[[I:.*]] = %[[M:.*]] to %[[N:.*]] {
// CHECK:   affine.for %[[J:.*]] =
// CHECK:     affine.store %{{.*}}, %{{.*}}[%[[I]] - %[[M]], %[[J]] - (%[[M]] - 1)] : memref<?x?xf32>
func.func @moves(%x: f32, %m: index, %n: index) {
  affine.for %i = %m to %n {
    affine.for %j = affine_map<(d0) -> (d0 - 1)>(%i) to affine_map<(d0) -> (d0 + 2)>(%i) {
      %w = memref.alloca() : memref<f32>
      affine.store %x, %w[] : memref<f32>
    }
  }
  return
}

// A row whose length is known before the loop.
// CHECK-LABEL: func.func @rows
// CHECK: %[[W:.*]] = memref.alloc(%{{.*}}) : memref<4x?xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 4 {
// CHECK:   affine.store %{{.*}}, %[[W]][%[[I]], %{{.*}}] : memref<4x?xf32>
func.func @rows(%x: f32, %n: index) {
  affine.for %i = 0 to 4 {
    %w = memref.alloc(%n) : memref<?xf32>
    affine.for %j = 0 to %n {
      affine.store %x, %w[%j] : memref<?xf32>
    }
    memref.dealloc %w : memref<?xf32>
  }
  return
}

// no-match: the number of iterations is not known before the loops; somebody else gets the memory.
// CHECK-LABEL: func.func @unknown
// CHECK: affine.for
// CHECK: memref.alloca() : memref<f32>
// CHECK-LABEL: func.func @escapes
// CHECK: affine.for
// CHECK: memref.alloca() : memref<8xf32>
func.func @unknown(%x: f32) {
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to affine_map<(d0) -> (d0 mod 3)>(%i) {
      %w = memref.alloca() : memref<f32>
      affine.store %x, %w[] : memref<f32>
    }
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
