// RUN: dlc-opt %s --dl-bind-params --split-input-file --verify-diagnostics | filecheck %s
// Params become trailing arguments, one per key, and the module states its signature.

// CHECK: module attributes {dl.signature = {entry = "main_graph",
// CHECK-SAME: inputs = [{dims = ["N", ""], name = "x", type = tensor<?x4xf32>}]
// CHECK-SAME: outputs = [{name = "y", type = tensor<?x4xf32>}, {name = "out1", type = tensor<4xui8>}]
// CHECK-SAME: params = [{name = "w", type = tensor<1x4xf32>}, {name = "u", type = tensor<4xui8>}]
// CHECK-LABEL: func.func @main_graph(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {dl.dims = ["N", ""], dl.name = "x"}
// CHECK-SAME: %[[W:.*]]: tensor<1x4xf32> {dl.param = "w"}, %[[U:.*]]: tensor<4xui8> {dl.param = "u"}
// CHECK-NOT: dl.param"
// CHECK: %[[SUM:.*]] = "dl.add"(%[[X]], %[[W]])
// CHECK: "dl.add"(%[[SUM]], %[[W]])
// CHECK: "dl.relu"(%[[U]])
func.func @main_graph(%x: tensor<?x4xf32> {dl.name = "x", dl.dims = ["N", ""]})
    -> (tensor<?x4xf32> {dl.name = "y"}, tensor<4xui8>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 4>, dtype = f32} : () -> tensor<1x4xf32>
  %u = "dl.param"() {key = "u", shape = array<i64: 4>, dtype = ui8} : () -> tensor<4xui8>
  %again = "dl.param"() {key = "w", shape = array<i64: 1, 4>, dtype = f32} : () -> tensor<1x4xf32>
  %0 = "dl.add"(%x, %w) : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  %1 = "dl.add"(%0, %again) : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  %2 = "dl.relu"(%u) : (tensor<4xui8>) -> tensor<4xui8>
  return %1, %2 : tensor<?x4xf32>, tensor<4xui8>
}

// -----

// A param inside a kernel becomes an argument, too, which the kernel reads from outside.

// CHECK-LABEL: func.func @kernels(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32> {dl.param = "w"})
// CHECK-NEXT: "dl.kernel"() ({
// CHECK-NEXT: "dl.add"(%[[X]], %[[W]])
func.func @kernels(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.kernel"() ({
    %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
    %1 = "dl.add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "dl.yield"(%1) : (tensor<4xf32>) -> ()
  }) : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// No params, bound before: only the signature is written.

// CHECK: params = [{name = "w", type = tensor<4xf32>}]
// CHECK-LABEL: func.func @bound(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {dl.param = "w"})
func.func @bound(%x: tensor<4xf32>, %w: tensor<4xf32> {dl.param = "w"}) -> tensor<4xf32> {
  %0 = "dl.add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @one_key_two_types() -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  // expected-error@below {{has type tensor<2xf32> but key 'w' has type tensor<4xf32> before}}
  %1 = "dl.param"() {key = "w", shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}

// -----

func.func private @inner() -> tensor<4xf32> {
  // expected-error@below {{stands in @inner, which is not the entry function; inline @inner}}
  %0 = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @outer() -> tensor<4xf32> {
  %0 = call @inner() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{the module has several entry functions (@f, @g); make all but one private}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
}

// -----

// expected-error@below {{the module has no public function with a body; make its entry function public}}
module {
}

// -----

// expected-error@below {{takes or gives a index, which is no ranked tensor of a dl element type}}
func.func @index(%x: index) -> index { return %x : index }

// -----

// no-match: a function without params keeps its arguments, and private functions stay as they are.
// CHECK-LABEL: func.func @no_params(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[X]]
// CHECK-LABEL: func.func private @helper(
// CHECK-SAME: %{{.*}}: tensor<2xf32>)
module {
  func.func @no_params(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  func.func private @helper(%x: tensor<2xf32>) { return }
}

// -----

// The function that computes weights takes those that it reads, and the signature names it.

// CHECK: params = [{name = "w.neg", type = tensor<4xf32>}],
// CHECK-SAME: precompute = {entry = "precompute", params = [{name = "w", type = tensor<4xf32>}],
// CHECK-SAME: results = [{name = "w.neg", type = tensor<4xf32>}]}
// CHECK-LABEL: func.func @precompute(%{{.*}}: tensor<4xf32> {dl.param = "w"}) -> (tensor<4xf32> {dl.param = "w.neg"})
// CHECK-LABEL: func.func @computed(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {dl.param = "w.neg"})
module {
  func.func @precompute() -> (tensor<4xf32> {dl.param = "w.neg"}) attributes {dl.precompute} {
    %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
    %0 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @computed(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w = "dl.param"() {key = "w.neg", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
    %0 = "dl.add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error@below {{@precompute is marked dl.precompute, but takes an argument, or gives a result without a key; read weights}}
func.func @precompute(%x: tensor<4xf32>) -> (tensor<4xf32> {dl.param = "w"}) attributes {dl.precompute} {
  return %x : tensor<4xf32>
}
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @precompute() -> (tensor<4xf32> {dl.param = "w.neg"}) attributes {dl.precompute} {
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  return %w : tensor<4xf32>
}
func.func @other_type() -> tensor<2xf32> {
  // expected-error@below {{has type tensor<2xf32> but key 'w.neg' has type tensor<4xf32> before}}
  %w = "dl.param"() {key = "w.neg", shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

// expected-error@below {{'x' has 3 names of dims in dl.dims, and is a tensor<?x4xf32>; give a name, or "", for each dim}}
func.func @names(%x: tensor<?x4xf32> {dl.name = "x", dl.dims = ["batch", "", "seq"]}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error@below {{'arg0' has 3 : i64 as names of dims; give a list of texts, a name, or "", for each dim}}
func.func @no_list(%x: tensor<?x4xf32> {dl.dims = 3}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error@below {{'arg0' has ["n", 4] as names of dims; give a list of texts, a name, or "", for each dim}}
func.func @numbers(%x: tensor<?x4xf32> {dl.dims = ["n", 4]}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
