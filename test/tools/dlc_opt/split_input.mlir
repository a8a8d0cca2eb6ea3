// RUN: not dlc-opt %s --split-input-file --cse 2>&1 >%t.out | filecheck %s --check-prefix=ERR
// RUN: filecheck %s --input-file=%t.out
// RUN: not dlc-opt %s 2>&1 | filecheck %s --check-prefix=WHOLE
// Each part is a module of its own, keeps the line numbers of the file, and is printed when it is right.

// CHECK: func.func @same
// CHECK: // -----
// CHECK-NOT: func.func @wrong
// CHECK: // -----
// CHECK: func.func @same
// WHOLE: split_input.mlir:17:36: error: use of undeclared
func.func @same() { return }

// -----

// ERR: split_input.mlir:17:36: error: use of undeclared SSA value name
func.func @wrong() -> i32 { return %nothing : i32 }

// -----

func.func @same() { return }
