// RUN: dlc-opt %s --linalg-fold-add-into-dest --split-input-file --verify-diagnostics | filecheck %s
// A product that is added to an argument which no call leaves in use starts from that argument.

#id = affine_map<(i, j) -> (i, j)>
#flat = affine_map<(i, j, k) -> (i, j, k)>
#bias = affine_map<(i, j, k) -> (j, k)>
#x = affine_map<(i, j, k, r) -> (i, r)>
#w = affine_map<(i, j, k, r) -> (j, r, k)>
#p = affine_map<(i, j, k, r) -> (i, j, k)>
// CHECK-LABEL: func.func private @kernel
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<2x8xf32>, %[[R:[a-z0-9]+]]: tensor<?x16xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[R]], %{{.*}} : tensor<?x16xf32>
// CHECK: %[[D:.*]] = tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]] output_shape [%[[N]], 2, 8]
// CHECK: %[[I:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<2x8xf32>) outs(%[[D]] : tensor<?x2x8xf32>) {
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[L]], %[[O]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs(%[[I]] : tensor<?x2x8xf32>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0], [1, 2]]
// CHECK: return %[[Y]]
func.func private @kernel(%x: tensor<?x4xf32>, %w: tensor<2x4x8xf32>, %b: tensor<2x8xf32>, %r: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %i = linalg.generic {indexing_maps = [#bias, #flat], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<2x8xf32>) outs(%e : tensor<?x2x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<?x2x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #p], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x4xf32>, tensor<2x4x8xf32>) outs(%i : tensor<?x2x8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.mulf %l, %m : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x2x8xf32>
  %f = tensor.collapse_shape %p [[0], [1, 2]] : tensor<?x2x8xf32> into tensor<?x16xf32>
  %e2 = tensor.empty(%n) : tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %r : tensor<?x16xf32>, tensor<?x16xf32>) outs(%e2 : tensor<?x16xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.addf %l, %m : f32
    linalg.yield %0 : f32
  } -> tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
func.func private @before(tensor<?x4xf32>) -> tensor<?x16xf32>
func.func @main(%x: tensor<?x4xf32>, %w: tensor<2x4x8xf32>, %b: tensor<2x8xf32>) -> tensor<?x16xf32> {
  %r = call @before(%x) : (tensor<?x4xf32>) -> tensor<?x16xf32>
  %s = call @kernel(%x, %w, %b, %r) : (tensor<?x4xf32>, tensor<2x4x8xf32>, tensor<2x8xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}

// -----

func.func @buffers(%x: memref<4xf32>) {
  %0 = arith.constant 0.0 : f32
  // expected-error @below {{needs linalg on tensors, found buffers; run it before linalg-bufferize-tensors}}
  linalg.fill ins(%0 : f32) outs(%x : memref<4xf32>)
  return
}
