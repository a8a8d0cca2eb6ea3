// RUN: dlc-opt %s --no-implicit-module --cse --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: not dlc-opt %s --no-implicit-module --symbol-privatize --convert-dl-to-linalg 2>&1 | filecheck %s --check-prefix=ERROR
// The one top-level op is the root, without a module around it, and passes run on it.

// CHECK: func.func(cse)
// CHECK-NOT: module
// CHECK: func.func @f
// ERROR: error: pass 'convert-dl-to-linalg' runs on 'builtin.module', not on 'func.func'
func.func @f() { return }
