// RUN: rm -rf %t && dlc-opt %s --pass-pipeline="builtin.module(canonicalize,func.func(cse,sccp),symbol-dce)" --mlir-print-ir-tree-dir=%t -o /dev/null
// RUN: ls %t/builtin_module_no-symbol-name %t/builtin_module_no-symbol-name/func_func_f | filecheck %s
// RUN: filecheck %s --check-prefix=FILE --input-file=%t/builtin_module_no-symbol-name/func_func_f/1_0_cse.mlir
// One file a pass and op, in folders as the ops nest.

// CHECK: 0_canonicalize.mlir
// CHECK-NEXT: 1_symbol-dce.mlir
// CHECK-NEXT: func_func_f
// CHECK: 1_0_cse.mlir
// CHECK-NEXT: 1_1_sccp.mlir

// FILE: // -----// IR Dump After cse //----- //
// FILE-NEXT: func.func @f
func.func @f() { return }
