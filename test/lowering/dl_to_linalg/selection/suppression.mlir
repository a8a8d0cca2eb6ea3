// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Candidates are counted by groups of 64 boxes and by class, sorted, and held against those that were taken, 16 at a time.

// CHECK-LABEL: func.func @boxes(
// CHECK: cf.assert %{{.*}}, "'dl.non_max_suppression'{{.*}}: iou_threshold is not between 0 and 1"
// CHECK: %[[GROUPS:.*]] = tensor.expand_shape {{.*}} into tensor<1x2x3x64xf32>
// CHECK: linalg.generic {{.*}} ins(%[[GROUPS]] : tensor<1x2x3x64xf32>) outs(%{{.*}} : tensor<1x2x3xi32>)
// CHECK: tensor.extract_slice %arg1[0, 0, 192] [1, 2, 8] [1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x2x3xi32>) outs(%{{.*}} : tensor<1x2xi32>)
// CHECK: tensor.empty(%{{.*}}) : tensor<?x3xi64>
// CHECK: linalg.fill {{.*}} -> tensor<4x256xindex>
// CHECK: tensor.extract_slice {{.*}} [1, 16] [1, 1] : tensor<5x?xf32> to tensor<1x16xf32>
// CHECK: linalg.generic {{.*}}["reduction"]} {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK: arith.divf
// CHECK: arith.cmpf ule
func.func @boxes(%x: tensor<1x200x4xf32>, %s: tensor<1x2x200xf32>, %m: tensor<i64>, %i: tensor<f32>, %l: tensor<f32>) -> tensor<?x3xi64> {
  %0 = "dl.non_max_suppression"(%x, %s, %m, %i, %l) : (tensor<1x200x4xf32>, tensor<1x2x200xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}
