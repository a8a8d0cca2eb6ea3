// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// A pass for each element that is taken.

// Value and index make one integer; a pass takes the largest of the maxima of blocks, and finds the next one of its block.
// CHECK-LABEL: func.func @top_k(
// CHECK: scf.for
// CHECK: arith.shli
// CHECK: %[[KEYS:.*]] = tensor.expand_shape {{.*}} into tensor<5x16xi64>
// CHECK: %[[MAXIMA:.*]] = linalg.generic {{.*}} ins(%[[KEYS]] : tensor<5x16xi64>) outs(%{{.*}} : tensor<5xi64>)
// CHECK: scf.for {{.*}} = %[[KEYS]], {{.*}} = %[[MAXIMA]])
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<5xi64>)
// CHECK: arith.maxsi
// CHECK: %[[LEFT:.*]] = tensor.insert {{.*}} : tensor<5x16xi64>
// CHECK: tensor.extract_slice %[[LEFT]]
// CHECK: tensor.insert {{.*}} : tensor<5xi64>
// CHECK: tensor.insert {{.*}} : tensor<3x2xf32>
func.func @top_k(%x: tensor<3x80xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %0:2 = "dl.top_k"(%x) {k = 2} : (tensor<3x80xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi64>
}

// Short rows, or most of their elements: each key is compared with all others.
// CHECK-LABEL: func.func @top_k_by_rank(
// CHECK: scf.for
// CHECK: %[[KEYS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xi64>)
// CHECK: %[[RANKS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<8xi64>, tensor<8xi64>)
// CHECK: arith.cmpi sgt
// CHECK: scf.for
// CHECK: %[[RANK:.*]] = tensor.extract %[[RANKS]]
// CHECK: tensor.insert {{.*}} : tensor<8xi64>
// CHECK: scf.for
// CHECK: tensor.insert {{.*}} : tensor<3x2xf32>
// CHECK-NOT: tensor.extract_slice
func.func @top_k_by_rank(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %0:2 = "dl.top_k"(%x) {k = 2} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi64>
}

// f64 and axes of unknown size: element by element.
// CHECK-LABEL: func.func @top_k_of_doubles(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpf ogt
// CHECK: tensor.insert {{.*}} : tensor<3x2xf64>
// CHECK: tensor.insert {{.*}} : tensor<3x2xi64>
func.func @top_k_of_doubles(%x: tensor<3x8xf64>) -> (tensor<3x2xf64>, tensor<3x2xi64>) {
  %0:2 = "dl.top_k"(%x) {k = 2} : (tensor<3x8xf64>) -> (tensor<3x2xf64>, tensor<3x2xi64>)
  return %0#0, %0#1 : tensor<3x2xf64>, tensor<3x2xi64>
}

// Rows whose length run time knows are in blocks of 32 keys, in memory that all rows share.
// CHECK-LABEL: func.func @top_k_of_any_rows(
// CHECK: %[[KEYS:.*]] = tensor.empty(%{{.*}}) : tensor<?x32xi64>
// CHECK: %[[MAXIMA:.*]] = tensor.empty(%{{.*}}) : tensor<?xi64>
// CHECK: cf.assert {{.*}} the most that has places
// CHECK: scf.for {{.*}} = %[[KEYS]], {{.*}} = %[[MAXIMA]]) -> (tensor<?x?xf32>,
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x32xi64>)
// CHECK: tensor.extract_slice {{.*}} [32] [1] : tensor<?xi64> to tensor<32xi64>
func.func @top_k_of_any_rows(%x: tensor<?x?xf32>, %k: tensor<i64>) -> (tensor<?x?xf32>, tensor<?x?xi64>) {
  %0:2 = "dl.top_k"(%x, %k) : (tensor<?x?xf32>, tensor<i64>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xi64>
}
