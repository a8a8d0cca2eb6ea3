// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-merge-rows | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-merge-rows=limit=1000 | filecheck %s --check-prefix=SMALL
// The pass refuses nothing.

// A convolution: rows of 28 are one and three quarters of a vector. The window moves by %r rows and %s columns.
// CHECK-LABEL: func.func @window
// CHECK-SAME: (%[[X:.*]]: memref<8x30x30xf32> {{.*}}, %[[K:.*]]: memref<64x8x3x3xf32> {{.*}}, %[[Y:.*]]: memref<64x28x28xf32>
// CHECK: %[[U:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x3x840xf32>
// CHECK: %[[F:.*]] = memref.collapse_shape %[[Y]] {{\[}}[0], [1, 2]] : memref<64x28x28xf32> into memref<64x784xf32>
// CHECK: affine.for %[[C:.*]] = 0 to 8
// CHECK:   affine.for %[[S:.*]] = 0 to 3
// CHECK:     affine.for %[[H:.*]] = 0 to 30
// CHECK:       affine.for %[[W:.*]] = 0 to 28
// CHECK:         %[[V:.*]] = affine.load %[[X]][%[[C]], %[[H]], %[[W]] + %[[S]]]
// CHECK:         affine.store %[[V]], %[[U]][%[[C]], %[[S]], %[[H]] * 28 + %[[W]]]
// CHECK: affine.for %[[O:.*]] = 0 to 64
// CHECK:   affine.for %[[P:.*]] = 0 to 784
// CHECK:     affine.for %[[C:.*]] = 0 to 8
// CHECK:       affine.for %[[R:.*]] = 0 to 3
// CHECK:         affine.for %[[S:.*]] = 0 to 3
// CHECK:           affine.load %[[U]][%[[C]], %[[S]], %[[P]] + %[[R]] * 28]
// CHECK:           affine.load %[[K]][%[[O]], %[[C]], %[[R]], %[[S]]]
// CHECK:           affine.load %[[F]][%[[O]], %[[P]]]
// CHECK:           affine.store %{{.*}}, %[[F]][%[[O]], %[[P]]]
// CHECK: memref.dealloc %[[U]]
// SMALL-LABEL: func.func @window
// SMALL-NOT: collapse_shape
// SMALL: affine.for %{{.*}} = 0 to 28
// SMALL: return
func.func @window(%x: memref<8x30x30xf32> {llvm.noalias}, %k: memref<64x8x3x3xf32> {llvm.noalias}, %y: memref<64x28x28xf32> {llvm.noalias}) {
  affine.for %f = 0 to 64 {
    affine.for %h = 0 to 28 {
      affine.for %w = 0 to 28 {
        affine.for %c = 0 to 8 {
          affine.for %r = 0 to 3 {
            affine.for %s = 0 to 3 {
              %a = affine.load %x[%c, %h + %r, %w + %s] : memref<8x30x30xf32>
              %b = affine.load %k[%f, %c, %r, %s] : memref<64x8x3x3xf32>
              %old = affine.load %y[%f, %h, %w] : memref<64x28x28xf32>
              %p = arith.mulf %a, %b : f32
              %new = arith.addf %old, %p : f32
              affine.store %new, %y[%f, %h, %w] : memref<64x28x28xf32>
            }
          }
        }
      }
    }
  }
  return
}

// Without windows nothing is copied. What is parallel stays so.
// CHECK-LABEL: func.func @pointwise
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[X:.*]] = memref.collapse_shape %arg0 {{.*}} into memref<8x49xf32>
// CHECK-DAG: %[[Y:.*]] = memref.collapse_shape %arg2 {{.*}} into memref<16x49xf32>
// CHECK: affine.for %[[F:.*]] = 0 to 16
// CHECK:   affine.for %[[P:.*]] = 0 to 49
// CHECK:     affine.for %[[C:.*]] = 0 to 8
// CHECK:       affine.load %[[X]][%[[C]], %[[P]]]
// CHECK:     }
// CHECK:   } {dlc.parallel}
func.func @pointwise(%x: memref<8x7x7xf32>, %k: memref<16x8xf32>, %y: memref<16x7x7xf32>) {
  affine.for %f = 0 to 16 {
    affine.for %h = 0 to 7 {
      affine.for %w = 0 to 7 {
        affine.for %c = 0 to 8 {
          %a = affine.load %x[%c, %h, %w] : memref<8x7x7xf32>
          %b = affine.load %k[%f, %c] : memref<16x8xf32>
          %old = affine.load %y[%f, %h, %w] : memref<16x7x7xf32>
          %p = arith.mulf %a, %b : f32
          %new = arith.addf %old, %p : f32
          affine.store %new, %y[%f, %h, %w] : memref<16x7x7xf32>
        }
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: rows are whole vectors; results lie apart; a variable is a bound; the window is written; no sum inside.
// CHECK-LABEL: func.func @whole_vectors
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @columns
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @triangle
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @written_window
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @no_sum
// CHECK-NOT: collapse_shape
func.func @whole_vectors(%x: memref<8x7x16xf32>, %y: memref<7x16xf32>) {
  affine.for %h = 0 to 7 {
    affine.for %w = 0 to 16 {
      affine.for %c = 0 to 8 {
        %a = affine.load %x[%c, %h, %w] : memref<8x7x16xf32>
        affine.store %a, %y[%h, %w] : memref<7x16xf32>
      }
    }
  }
  return
}
func.func @columns(%x: memref<8x7x7xf32>, %y: memref<7x7x4xf32>) {
  affine.for %h = 0 to 7 {
    affine.for %w = 0 to 7 {
      affine.for %c = 0 to 4 {
        %a = affine.load %x[%c, %h, %w] : memref<8x7x7xf32>
        affine.store %a, %y[%h, %w, %c] : memref<7x7x4xf32>
      }
    }
  }
  return
}
func.func @triangle(%x: memref<8x7x7xf32>, %y: memref<7x7xf32>) {
  affine.for %h = 0 to 7 {
    affine.for %w = 0 to 7 {
      affine.for %c = 0 to affine_map<(d0) -> (d0)>(%h) {
        %a = affine.load %x[%c, %h, %w] : memref<8x7x7xf32>
        affine.store %a, %y[%h, %w] : memref<7x7xf32>
      }
    }
  }
  return
}
func.func @written_window(%x: memref<9x7xf32>) {
  affine.for %h = 0 to 7 {
    affine.for %w = 0 to 7 {
      affine.for %c = 0 to 100 {
        affine.for %r = 0 to 3 {
          %a = affine.load %x[%h + %r, %w] : memref<9x7xf32>
          affine.store %a, %x[%h, %w] : memref<9x7xf32>
        }
      }
    }
  }
  return
}
func.func @no_sum(%x: memref<7x7xf32>, %y: memref<7x7xf32>) {
  affine.for %h = 0 to 7 {
    affine.for %w = 0 to 7 {
      %a = affine.load %x[%h, %w] : memref<7x7xf32>
      affine.store %a, %y[%h, %w] : memref<7x7xf32>
    }
  }
  return
}
