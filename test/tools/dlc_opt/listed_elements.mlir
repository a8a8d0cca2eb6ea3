// RUN: not dlc-opt %s 2>&1 | filecheck %s
// RUN: sed s/9223372036854775807/2/ %s | dlc-opt - | filecheck %s --check-prefix=FITS
// The parser makes a list of all elements of this type, which no memory holds.

// CHECK: listed_elements.mlir:9:8: error: vector.from_elements would list 9223372036854775807 elements; use a constant, a splat or a loop
// FITS: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf64>
!many = vector<9223372036854775807xf64>
func.func @listed(%a: f64, %b: f64) -> !many {
  %0 = vector.from_elements %a, %b : !many
  return %0 : !many
}
