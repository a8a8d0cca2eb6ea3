// RUN: dlc-opt %s --linalg-fold-add-into-dest | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --linalg-fold-add-into-dest | filecheck %s --check-prefix=GPU

#id = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j, r) -> (i, r)>
#w = affine_map<(i, j, r) -> (r, j)>
#p = affine_map<(i, j, r) -> (i, j)>
// no match: one call's tensor is read again behind the call, by a reshape that was made before.
// CHECK-LABEL: func.func private @read_later
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} outs(%[[Z]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>)
func.func private @read_later(%x: tensor<4x2xf32>, %w: tensor<2x8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #p], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x2xf32>, tensor<2x8xf32>) outs(%i : tensor<4x8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.mulf %l, %m : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.addf %l, %m : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// The same kernel, whose only call reads the tensor last: folded, but not for a GPU.
// CHECK-LABEL: func.func private @read_last
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK-NOT: linalg.fill
// CHECK: %[[S:.*]] = linalg.generic {{.*}} outs(%[[R]] : tensor<4x8xf32>)
// CHECK: return %[[S]]
// GPU-LABEL: func.func private @read_last
// GPU: linalg.fill
func.func private @read_last(%x: tensor<4x2xf32>, %w: tensor<2x8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #p], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x2xf32>, tensor<2x8xf32>) outs(%i : tensor<4x8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.mulf %l, %m : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r, %p : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32):
    %0 = arith.addf %l, %m : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
func.func private @before(tensor<4x2xf32>) -> tensor<32xf32>
func.func @main(%x: tensor<4x2xf32>, %w: tensor<2x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>) {
  %a = call @before(%x) : (tensor<4x2xf32>) -> tensor<32xf32>
  %b = call @before(%x) : (tensor<4x2xf32>) -> tensor<32xf32>
  %r = tensor.expand_shape %a [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %q = tensor.expand_shape %b [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %s = call @read_later(%x, %w, %r) : (tensor<4x2xf32>, tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = call @read_last(%x, %w, %q) : (tensor<4x2xf32>, tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %s, %t, %a : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>
}
