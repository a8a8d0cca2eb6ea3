// RUN: dlc-opt %s --cse --canonicalize --mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s --check-prefix=ALL
// RUN: dlc-opt %s --cse --sccp --canonicalize --mlir-print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: dlc-opt %s --cse --sccp --mlir-print-ir-before=sccp -o /dev/null 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: dlc-opt %s --cse --sccp --mlir-print-ir-before-all --mlir-print-ir-after=cse -o /dev/null 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: dlc-opt %s --pass-pipeline="func.func(cse)" --mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s --check-prefix=FUNC
// RUN: dlc-opt %s --pass-pipeline="func.func(cse)" --mlir-print-ir-after-all --mlir-print-ir-module-scope -o /dev/null 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: not dlc-opt %s --cse --transform-interpreter --mlir-print-ir-after-failure 2>&1 | filecheck %s --check-prefix=FAIL
// The IR around passes goes to standard error under headers as mlir-opt's.

// ALL: // -----// IR Dump After cse //----- //
// ALL-NEXT: module {
// ALL: // -----// IR Dump After canonicalize //----- //
// ALL-NEXT: module {

// CHANGE: // -----// IR Dump After cse //----- //
// CHANGE-NOT: IR Dump

// BEFORE-NOT: IR Dump After
// BEFORE: // -----// IR Dump Before sccp //----- //
// BEFORE-NOT: IR Dump

// ORDER: IR Dump Before cse
// ORDER: IR Dump After cse
// ORDER: IR Dump Before sccp
// ORDER-NOT: IR Dump

// FUNC: // -----// IR Dump After cse //----- //
// FUNC-NEXT: func.func @f
// FUNC: // -----// IR Dump After cse //----- //
// FUNC-NEXT: func.func @g

// SCOPE: // -----// IR Dump After cse ('func.func' operation: @f) //----- //
// SCOPE-NEXT: module {

// FAIL-NOT: IR Dump After cse
// FAIL: // -----// IR Dump After transform-interpreter Failed //----- //
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
func.func @g() { return }
