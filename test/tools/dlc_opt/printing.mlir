// RUN: dlc-opt %s --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=ELEMENTS
// RUN: dlc-opt %s --mlir-elide-resource-strings-if-larger=4 | filecheck %s --check-prefix=RESOURCE
// RUN: dlc-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: dlc-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix=DEBUG
// RUN: dlc-opt %s --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s --check-prefix=LOCAL
// RUN: dlc-opt %s | dlc-opt | filecheck %s --check-prefix=PLAIN
// How much is printed, and in which form.

// ELEMENTS: dense_resource<__elided__>
// ELEMENTS: dense<1>
// PLAIN: dense<[1, 2, 3]>
// PLAIN: weights: "0x04000000010000000200000003000000"
// RESOURCE: dense<[1, 2, 3]>
// RESOURCE-NOT: 0x04000000
// GENERIC: "func.func"() <{
// DEBUG: return %{{.*}} loc(#loc{{[0-9]*}})
// DEBUG: = loc("{{.*}}printing.mlir":21:8)
// LOCAL: arith.constant dense<[1, 2, 3]> {{.*}} loc("{{.*}}printing.mlir":21:8)
// LOCAL-NOT: #loc
func.func @f() -> (tensor<3xi32>, tensor<1xi32>, tensor<3xi32>) {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = arith.constant dense<1> : tensor<1xi32>
  %2 = arith.constant dense_resource<weights> : tensor<3xi32>
  return %0, %1, %2 : tensor<3xi32>, tensor<1xi32>, tensor<3xi32>
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x04000000010000000200000003000000"
    }
  }
#-}
