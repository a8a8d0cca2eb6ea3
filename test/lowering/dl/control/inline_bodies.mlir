// RUN: dlc-opt %s --dl-inline-bodies --split-input-file --verify-diagnostics | filecheck %s
// Bodies return to where they are called; one that nothing calls is refused.

// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK-NEXT: %[[Y:.*]] = func.call @kernel_0_exp
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK-NOT: @body_0
func.func @branch(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = func.call @body_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func private @kernel_0_exp(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.kernel} {
  %0 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  %0 = func.call @kernel_0_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// no-match: a private function that is no body stays.
// CHECK-LABEL: func.func @call
// CHECK: call @other
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{nothing calls the body @body_0; erase it with symbol-dce}}
func.func private @body_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  return %x : tensor<4xf32>
}

// -----

func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @body(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{the body @body has another call; give each call a body of its own}}
  %1 = call @body(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  // expected-error @+1 {{the body @other calls itself; write a loop with scf.while}}
  %0 = call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  %0 = call @one(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @jumps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @body(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @+1 {{the body @body has several blocks; write branches with scf.if}}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.body} {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
