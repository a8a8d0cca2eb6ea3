// RUN: dlc-opt %s --affine-privatize-buffers | filecheck %s
// RUN: dlc-opt %s --affine-privatize-buffers=limit=64 | filecheck %s --check-prefix=SMALL
// The pass refuses nothing.

// Every iteration writes all of %t before it reads it, so each gets its own; what the last one has written goes back.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:.*]]: memref<8x40x4xf64> {{.*}}, %[[T:.*]]: memref<4xf64>
// CHECK: %[[W:.*]] = memref.alloc() : memref<8x4xf64>
// CHECK: affine.for %[[I:.*]] = 2 to 10
// CHECK:   affine.for
// CHECK:     affine.store %{{.*}}, %[[W]][%[[I]] - 2, %{{.*}}]
// CHECK:     affine.load %[[W]][%[[I]] - 2, %{{.*}}]
// CHECK:     affine.store %{{.*}}, %[[A]][
// CHECK: affine.for %[[P:.*]] = 0 to 4
// CHECK-NEXT: %[[V:.*]] = affine.load %[[W]][7, %[[P]]]
// CHECK-NEXT: affine.store %[[V]], %[[T]][%[[P]]]
// CHECK: } {dlc.parallel}
// CHECK: memref.dealloc %[[W]]
// SMALL-LABEL: func.func @rows
// SMALL-NOT: memref.alloc
// SMALL: return
func.func @rows(%a: memref<8x40x4xf64> {llvm.noalias}, %t: memref<4xf64> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 2 to 10 {
    affine.for %j = 0 to 40 {
      affine.for %p = 0 to 4 {
        affine.store %zero, %t[%p] : memref<4xf64>
        affine.for %s = 0 to 4 {
          %x = affine.load %t[%p] : memref<4xf64>
          %y = affine.load %a[%i - 2, %j, %s] : memref<8x40x4xf64>
          %z = arith.addf %x, %y : f64
          affine.store %z, %t[%p] : memref<4xf64>
        }
      }
      affine.for %p = 0 to 4 {
        %x = affine.load %t[%p] : memref<4xf64>
        affine.store %x, %a[%i - 2, %j, %p] : memref<8x40x4xf64>
      }
    }
  }
  return
}

// The loop takes steps of two, and nobody sees the memory afterwards.
// CHECK-LABEL: func.func @local
// CHECK: memref.alloc() : memref<4xf64>
// CHECK: %[[W:.*]] = memref.alloc() : memref<9x4xf64>
// CHECK: affine.for %[[I:.*]] = 0 to 9 step 2
// CHECK:   affine.store %{{.*}}, %[[W]][%[[I]], %{{.*}}]
// CHECK-NOT: affine.for %{{.*}} = 0 to 4
// CHECK: return
func.func @local(%a: memref<9x40xf64> {llvm.noalias}) {
  %t = memref.alloc() : memref<4xf64>
  affine.for %i = 0 to 9 step 2 {
    affine.for %j = 0 to 40 {
      %x = affine.load %a[%i, %j] : memref<9x40xf64>
      affine.store %x, %t[%j mod 4] : memref<4xf64>
      %y = affine.load %t[%j mod 4] : memref<4xf64>
      %z = arith.addf %x, %y : f64
      affine.store %z, %a[%i, %j] : memref<9x40xf64>
    }
  }
  memref.dealloc %t : memref<4xf64>
  return
}

// no-match: an iteration reads what the one before has written, or what was there before the loop; the elements differ from
// one to the next; another array keeps the order; elements are touched once or twice.
// CHECK-LABEL: func.func @carried
// CHECK-NOT: memref.alloc
// CHECK-LABEL: func.func @outside
// CHECK-NOT: memref.alloc
// CHECK-LABEL: func.func @growing
// CHECK-NOT: memref.alloc
// CHECK-LABEL: func.func @other
// CHECK-NOT: memref.alloc
// CHECK-LABEL: func.func @seldom
// CHECK-NOT: memref.alloc
func.func @carried(%a: memref<8x40xf64> {llvm.noalias}, %t: memref<1xf64> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      %x = affine.load %t[0] : memref<1xf64>
      %y = affine.load %a[%i, %j] : memref<8x40xf64>
      %z = arith.addf %x, %y : f64
      affine.store %z, %t[0] : memref<1xf64>
    }
  }
  return
}
func.func @outside(%a: memref<8x40xf64> {llvm.noalias}, %t: memref<2xf64> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      %y = affine.load %a[%i, %j] : memref<8x40xf64>
      affine.store %y, %t[0] : memref<2xf64>
      %x = affine.load %t[0] : memref<2xf64>
      %w = affine.load %t[1] : memref<2xf64>
      %z = arith.addf %x, %w : f64
      affine.store %z, %a[%i, %j] : memref<8x40xf64>
    }
  }
  return
}
func.func @growing(%a: memref<8x40xf64> {llvm.noalias}, %t: memref<8xf64> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      affine.for %p = 0 to affine_map<(d0) -> (8 - d0)>(%i) {
        %y = affine.load %a[%i, %j] : memref<8x40xf64>
        affine.store %y, %t[%p] : memref<8xf64>
        %x = affine.load %t[%p] : memref<8xf64>
        affine.store %x, %a[%i, %j] : memref<8x40xf64>
      }
    }
  }
  return
}
func.func @other(%a: memref<9x40xf64> {llvm.noalias}, %t: memref<1xf64> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      %y = affine.load %a[%i, %j] : memref<9x40xf64>
      affine.store %y, %t[0] : memref<1xf64>
      %x = affine.load %t[0] : memref<1xf64>
      affine.store %x, %a[%i + 1, %j] : memref<9x40xf64>
    }
  }
  return
}
func.func @seldom(%a: memref<8x40xf64> {llvm.noalias}, %t: memref<40xf64> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      %y = affine.load %a[%i, %j] : memref<8x40xf64>
      affine.store %y, %t[%j] : memref<40xf64>
      %x = affine.load %t[%j] : memref<40xf64>
      affine.store %x, %a[%i, %j] : memref<8x40xf64>
    }
  }
  return
}
