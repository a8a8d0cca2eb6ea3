// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// What a step of a loop writes into its slice has the slice's sizes, which run time checks where they may differ.

// CHECK-LABEL: func.func @other
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<?x?x3xf32>, %[[N:.*]]: index)
// CHECK: %[[HAVE:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[HAVE]], %[[WANT:.*]] : index
// CHECK: cf.assert %[[SAME]], "'tensor.insert_slice' at {{.*}}: dim 0 of what is written is {} but dim 1 of its slice is {}"
// CHECK: tensor.insert_slice %[[X]] into %[[Y]][%[[N]], 0, 0] [1, %[[WANT]], 3]
func.func @other(%x: tensor<?x3xf32>, %y: tensor<?x?x3xf32>, %n: index) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %s = "dl.shape_of"(%y) {start = 1 : i64, end = 2 : i64} : (tensor<?x?x3xf32>) -> tensor<1xi64>
  %e = tensor.extract %s[%c0] : tensor<1xi64>
  %w = arith.index_cast %e : i64 to index
  %r = tensor.insert_slice %x into %y[%n, 0, 0] [1, %w, 3] [1, 1, 1] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// -----

// no-match: the same dim.
// CHECK-LABEL: func.func @same
// CHECK-NOT: cf.assert
// CHECK: tensor.insert_slice
func.func @same(%x: tensor<?x3xf32> {dl.dims = ["rows", ""]}, %y: tensor<?x?x3xf32> {dl.dims = ["", "rows", ""]}, %n: index)
    -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %s = "dl.shape_of"(%y) {start = 1 : i64, end = 2 : i64} : (tensor<?x?x3xf32>) -> tensor<1xi64>
  %e = tensor.extract %s[%c0] : tensor<1xi64>
  %w = arith.index_cast %e : i64 to index
  %r = tensor.insert_slice %x into %y[%n, 0, 0] [1, %w, 3] [1, 1, 1] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// -----

// no-match: sizes that are known.
// CHECK-LABEL: func.func @known
// CHECK-NOT: cf.assert
// CHECK: tensor.insert_slice
func.func @known(%x: tensor<3xf32>, %y: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
  %r = tensor.insert_slice %x into %y[%n, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
