// RUN: not dlc-opt %s --load-pass-plugin=%S/Inputs/test_passes.py --cse --test-refuse='reason="more input"' --sccp --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=FILE --input-file=%t.mlir
// RUN: not dlc-opt --run-reproducer --load-pass-plugin=%S/Inputs/test_passes.py %t.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: echo 'module {}' | not dlc-opt --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE
// A failing pass leaves the IR before it and itself as a pipeline; --run-reproducer runs that.

// CHECK: error: needs more input; run test-mark first
// CHECK: note: pass 'test-refuse' failed
// CHECK: note: reproducer written; replay with: dlc-opt --run-reproducer --load-pass-plugin={{.*}}test_passes.py {{.*}}.mlir

// FILE: // reproducer: pass 'test-refuse'
// FILE: arith.addi
// FILE-NOT: arith.addi
// FILE: mlir_reproducer: {
// FILE-NEXT: pipeline: "builtin.module(func.func(test-refuse{reason=\"more input\"}))",
// FILE-NEXT: disable_threading: true,
// FILE-NEXT: verify_each: true

// AGAIN-NOT: warning
// AGAIN: error: needs more input; run test-mark first

// NONE: <stdin>: error: this is no reproducer
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
