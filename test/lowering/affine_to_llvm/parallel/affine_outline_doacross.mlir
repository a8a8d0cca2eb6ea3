// RUN: dlc-opt %s "--affine-outline-doacross=min-work=1000 min-tile=100" --split-input-file | filecheck %s
// The pass refuses nothing.

// A column of a row becomes a function, which runs between the runtime's two; the rows another one, over a range of them.
// CHECK-DAG: func.func private @dlc_doacross(!llvm.ptr, !llvm.ptr, i64)
// CHECK-DAG: func.func private @dlc_await_column(i64)
// CHECK-DAG: func.func private @dlc_finish_column(i64)
// CHECK-LABEL: func.func @below
// CHECK-NOT: affine.for
// CHECK: call @dlc_doacross
// CHECK-NOT: affine.for
// CHECK: return
// CHECK-LABEL: func.func private @below_tile0
// CHECK-SAME: memref<64x512xf32> {llvm.noalias}
// CHECK: affine.for
// CHECK:   affine.store
// CHECK-LABEL: func.func private @below_rows0
// CHECK-SAME: (%[[A:.*]]: memref<64x512xf32>, %[[FIRST:.*]]: index, %[[LO:.*]]: index, %[[HI:.*]]: index)
// CHECK: affine.for %[[AT:.*]] = %[[LO]] to %[[HI]] {
// CHECK:   %[[R:.*]] = affine.apply #{{.*}}(%[[AT]])[%[[FIRST]]]
// CHECK:   affine.for %[[C:.*]] = 0 to 8 {
// CHECK:     %[[COLUMN:.*]] = arith.index_cast %[[C]] : index to i64
// CHECK:     call @dlc_await_column(%[[COLUMN]])
// CHECK:     call @below_tile0(
// CHECK:     call @dlc_finish_column(%[[COLUMN]])
// CHECK-LABEL: func.func private @below_doacross0(
// CHECK: call @below_rows0
func.func @below(%A: memref<64x512xf32> {llvm.noalias}) {
  affine.for %r = 1 to 64 {
    affine.for %c = 0 to 8 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%r - 1, %c * 64 + %j] : memref<64x512xf32>
        %b = arith.addf %a, %a : f32
        affine.store %b, %A[%r, %c * 64 + %j] : memref<64x512xf32>
      } {dlc.parallel}
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}

// -----

// Two loops over columns, the second after the first. An iteration of a step stands for the columns up to the next one.
// CHECK-LABEL: func.func private @two_rows0
// CHECK: affine.for
// CHECK:   affine.for %[[C:.*]] = 0 to
// CHECK:     call @two_tile0(
// CHECK:   affine.for %[[D:.*]] =
// CHECK:     %[[END:.*]] = affine.min #{{.*}}(%[[D]])
// CHECK:     %[[COLUMN:.*]] = arith.index_cast %[[D]]
// CHECK:     call @dlc_await_column(%[[COLUMN]])
// CHECK:     call @two_tile0_1(
// CHECK:     %[[LAST:.*]] = arith.index_cast %[[END]]
// CHECK:     call @dlc_finish_column(%[[LAST]])
func.func @two(%A: memref<64x512xf32>) {
  affine.for %r = 0 to 32 {
    affine.for %c = 0 to affine_map<(d0) -> (d0 + 1)>(%r) {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%r, %j] : memref<64x512xf32>
        affine.store %a, %A[%c, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
    affine.for %c = affine_map<(d0) -> (d0 + 1)>(%r) to 64 step 2 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%r, %j] : memref<64x512xf32>
        affine.store %a, %A[%c, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}

// -----

// The last tile of a loop ends where the loop does: the columns after it are another loop's, and not done yet.
// CHECK: #[[END:.*]] = affine_map<(d0, d1) -> (d0 + 7, d1 + 3, 19)>
// CHECK-LABEL: func.func private @clipped_rows0
// CHECK:   affine.for %[[C:.*]] = 0 to min #{{.*}}(%[[R:.*]]) step 8 {
// CHECK:     %[[LAST:.*]] = affine.min #[[END]](%[[C]], %[[R]])
// CHECK:     call @clipped_tile0(
// CHECK:     %[[COLUMN:.*]] = arith.index_cast %[[LAST]]
// CHECK:     call @dlc_finish_column(%[[COLUMN]])
func.func @clipped(%A: memref<64x512xf32>) {
  affine.for %r = 1 to 64 {
    affine.for %c = 0 to min affine_map<(d0) -> (d0 + 4, 20)>(%r) step 8 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%r - 1, %c * 8 + %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %c * 8 + %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
    affine.for %c = 20 to 56 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%r - 1, %c * 8 + %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %c * 8 + %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}

// -----

// no-match: the second loop begins again (rows that were unrolled), and a row that loads something beside its columns. Where row 8
// has no second loop, the third begins within the first. A number is no role.
// CHECK-LABEL: func.func @again
// CHECK-NOT: call @dlc_doacross
// CHECK-LABEL: func.func @beside
// CHECK-NOT: call @dlc_doacross
// CHECK-LABEL: func.func @empty
// CHECK-NOT: call @dlc_doacross
// CHECK-LABEL: func.func @number
// CHECK-NOT: call @dlc_doacross
// CHECK-LABEL: func.func @small
// CHECK-NOT: call @dlc_doacross
func.func @again(%A: memref<64x512xf32>) {
  affine.for %r = 0 to 64 {
    affine.for %c = 0 to 8 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%c, %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
    affine.for %c = 0 to 8 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%c, %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}
func.func @beside(%A: memref<64x512xf32>) {
  affine.for %r = 0 to 64 {
    %a = affine.load %A[%r, 0] : memref<64x512xf32>
    affine.for %c = 0 to 8 {
      affine.for %j = 0 to 64 {
        affine.store %a, %A[%r, %j + %c] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}
func.func @empty(%A: memref<64x512xf32>) {
  affine.for %r = 0 to 64 {
    affine.for %c = 0 to 20 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%c, %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
    affine.for %c = 20 to affine_map<(d0) -> (d0)>(%r) {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%c, %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
    affine.for %c = affine_map<(d0) -> (d0)>(%r) to 64 {
      affine.for %j = 0 to 64 {
        %a = affine.load %A[%c, %j] : memref<64x512xf32>
        affine.store %a, %A[%r, %j] : memref<64x512xf32>
      }
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}
func.func @number(%A: memref<64x512xf32>) {
  affine.for %r = 1 to 64 {
    affine.for %c = 0 to 512 {
      %a = affine.load %A[%r - 1, %c] : memref<64x512xf32>
      affine.store %a, %A[%r, %c] : memref<64x512xf32>
    } {dlc.doacross = "columns"}
  } {dlc.doacross = 3}
  return
}

// A column of ten instructions is not worth telling another thread of.
func.func @small(%A: memref<64x512xf32>) {
  affine.for %r = 1 to 64 {
    affine.for %c = 0 to 512 {
      %a = affine.load %A[%r - 1, %c] : memref<64x512xf32>
      affine.store %a, %A[%r, %c] : memref<64x512xf32>
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}
