// RUN: dlc-opt %s --pass-pipeline="builtin.module(some.op())"
// RUN: dlc-opt %s --pass-pipeline="builtin.module(canonicalize, builtin.module(builtin.module()), builtin.module(builtin.module(cse)))"
// RUN: dlc-opt %s --pass-pipeline="builtin.module(canonicalize{max-iterations=3}, func.func(cse))" | filecheck %s
// RUN: dlc-opt %s --pass-pipeline "func.func(cse)" | filecheck %s
// RUN: dlc-opt %s --pass-pipeline="dl-to-linalg" --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: dlc-opt %s --pass-pipeline="builtin.module()" | filecheck %s --check-prefix=EMPTY
// RUN: not dlc-opt %s --pass-pipeline="builtin.module(cse,csse)" 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: not dlc-opt %s --pass-pipeline="builtin.module(cse)" --cse 2>&1 | filecheck %s --check-prefix=BOTH
// Pipeline text mixes upstream's and Python passes, nested anchors and named pipelines; errors point into it.

// CHECK-LABEL: func.func @f
// CHECK: %[[A:.*]] = "dl.relu"
// CHECK-NEXT: "dl.add"(%[[A]], %[[A]])

// NAMED: builtin.module({{.*}}dl-bind-params,{{.*}}convert-dl-to-linalg
// NAMED: linalg.generic

// EMPTY-COUNT-2: "dl.relu"

// ERROR: <pipeline>:1:20: error: no pass is called 'csse'; did you mean 'cse'?
// ERROR-NEXT: builtin.module(cse,csse)
// ERROR-NEXT: {{^}}                   ^

// BOTH: <command line>:1:{{[0-9]+}}: error: flags of passes can't be used together with --pass-pipeline
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "dl.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
