// RUN: dlc-opt %s --linalg-fuse-elementwise | filecheck %s
// Sizes that run time knows: those of results are not asked of them, so what makes them fuses as with known sizes.

#id = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The second op takes the axes of the first, though they are joined and split in between.
// CHECK-LABEL: func.func private @through_reshapes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x28x192xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: tensor.empty(%[[N]]) : tensor<?x28x192xf32>
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: math.sqrt
// CHECK-NOT: linalg.generic
// CHECK: return
func.func private @through_reshapes(%x: tensor<?x28x192xf32>) -> tensor<?x28x192xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x28x192xf32> into tensor<?x192xf32>
  %n = tensor.dim %rows, %c0 : tensor<?x192xf32>
  %e = tensor.empty(%n) : tensor<?x192xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?x192xf32>) outs(%e : tensor<?x192xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<?x192xf32>
  %batch = tensor.dim %x, %c0 : tensor<?x28x192xf32>
  %split = tensor.expand_shape %a [[0, 1], [2]] output_shape [%batch, 28, 192] : tensor<?x192xf32> into tensor<?x28x192xf32>
  %m = tensor.dim %split, %c0 : tensor<?x28x192xf32>
  %f = tensor.empty(%m) : tensor<?x28x192xf32>
  %b = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%split : tensor<?x28x192xf32>) outs(%f : tensor<?x28x192xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.sqrt %i : f32
    linalg.yield %v : f32
  } -> tensor<?x28x192xf32>
  return %b : tensor<?x28x192xf32>
}

// no-match: a tensor that a call gives is asked itself.
// CHECK-LABEL: func.func private @of_a_call(
// CHECK: %[[Y:.*]] = call @through_reshapes
// CHECK: tensor.dim %[[Y]]
func.func private @of_a_call(%x: tensor<?x28x192xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = call @through_reshapes(%x) : (tensor<?x28x192xf32>) -> tensor<?x28x192xf32>
  %n = tensor.dim %y, %c0 : tensor<?x28x192xf32>
  return %n : index
}

// A check of a result's size stays one where fusion gives the result that size.
// CHECK-LABEL: func.func private @checked(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x2x2xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[N]], %c3
// CHECK: cf.assert %[[HOLDS]], "size is {} but {}"
func.func private @checked(%x: tensor<?x2x2xf32>) -> tensor<3x1x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2x2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %sum = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1, d2) -> (d0, d2)>],
      iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<?x2x2xf32>) outs(%f : tensor<?x2xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.addf %i, %o : f32
    linalg.yield %v : f32
  } -> tensor<?x2xf32>
  %kept = tensor.expand_shape %sum [[0, 1], [2]] output_shape [%n, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
  %size = tensor.dim %kept, %c0 : tensor<?x1x2xf32>
  %holds = arith.cmpi eq, %size, %c3 : index
  cf.assert %holds, "size is {} but {}"
  %y = tensor.cast %kept : tensor<?x1x2xf32> to tensor<3x1x2xf32>
  return %y : tensor<3x1x2xf32>
}
