// RUN: not dlc-opt %s 2>&1 | filecheck %s
// RUN: sed s/2147483648/16777215/ %s | not dlc-opt - 2>&1 | filecheck %s --check-prefix=FITS
// The parser makes a list of as many values as the number of a result says, which no memory holds.

// CHECK: large_result_number.mlir:8:10: error: no op has a result #2147483648; number results from 0, below 16777216
// FITS: error:
func.func @f() -> i32 {
  return %r #2147483648 : i32
}
