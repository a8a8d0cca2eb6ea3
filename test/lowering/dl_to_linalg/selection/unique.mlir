// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Keys of slices are sorted by digits; a slice that differs from the one before it begins a group.

// One word of 32 bits an element: NaN is the greatest key.
// CHECK-LABEL: func.func @list(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<900xi32>)
// CHECK: arith.bitcast
// CHECK: arith.cmpf uno
// CHECK: %[[TABLE:.*]] = linalg.fill ins(%c0 : index) outs(%{{.*}} : tensor<4x256xindex>)
// CHECK: scf.for {{.*}} = %[[TABLE]])
// CHECK: %[[STARTS:.*]]:2 = scf.for {{.*}} -> (tensor<900xi64>, i64)
// CHECK: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// CHECK: %[[GROUPS:.*]] = arith.index_cast %[[STARTS]]#1
// CHECK: tensor.empty(%[[GROUPS]]) : tensor<?xi64>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>)
func.func @list(%x: tensor<900xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<900xi64>, tensor<?xi64>) {
  %0:4 = "dl.unique"(%x) : (tensor<900xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<900xi64>, tensor<?xi64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?xf32>, tensor<?xi64>, tensor<900xi64>, tensor<?xi64>
}

// Two words an element of 64 bits, and a sort by each of all elements of a slice, the last first.
// CHECK-LABEL: func.func @columns(
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x?xi32>, tensor<3x?xi32>)
// CHECK: arith.xori
// CHECK: arith.shrui
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: scf.for {{.*}} -> (tensor<2x?xi64>, index, tensor<4x256xindex>)
// CHECK: scf.for {{.*}} -> (tensor<2x?xi64>, index, tensor<4x256xindex>)
func.func @columns(%x: tensor<3x?xi64>) -> tensor<3x?xi64> {
  %0:4 = "dl.unique"(%x) {axis = 1 : i64} : (tensor<3x?xi64>) -> (tensor<3x?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  return %0#0 : tensor<3x?xi64>
}
