// RUN: dlc-opt %s --cse --emit-bytecode -o %t.mlirbc
// RUN: dlc-opt %t.mlirbc --canonicalize | filecheck %s
// RUN: dlc-opt %s --emit-bytecode | dlc-opt - | filecheck %s
// RUN: dlc-opt %s --emit-bytecode | head -c 100 > %t.short.mlirbc
// RUN: not dlc-opt %t.short.mlirbc 2>&1 | filecheck %s --check-prefix=SHORT
// Bytecode goes out by a flag and is read without one.

// CHECK-LABEL: func.func @f
// CHECK: "dl.relu"
// SHORT: .short.mlirbc: error:
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
