// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// The dl element type decides the predicate: unsigned for ui8 and i1, ordered for floats.

// CHECK-LABEL: func.func @less(
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i8
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i8
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
func.func @less(%u: tensor<4xui8>, %s: tensor<4xi8>, %f: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = "dl.less"(%u, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %1 = "dl.less"(%s, %s) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %2 = "dl.less"(%f, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @shift_right(
// CHECK: %[[AMOUNT:.*]] = arith.minui
// CHECK: arith.shrsi %{{.*}}, %[[AMOUNT]] : i32
// CHECK-NOT: arith.select
// CHECK: return
func.func @shift_right(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<4xi32> {
  %0 = "dl.shift_right"(%x, %y) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @where(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1xi1>, tensor<3xf32>, tensor<f32>)
// CHECK: arith.select
func.func @where(%c: tensor<2x1xi1>, %x: tensor<3xf32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "dl.where"(%c, %x, %y) : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
