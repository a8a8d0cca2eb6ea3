// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Each labelled constraint of walks through trees.

func.func @tree_walk_c1(%x: tensor<3x4xf32>, %nodes: tensor<1x1x2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c1: x is tensor<3x4xf32> and nodes tensor<1x1x2xi32>}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x4xf32>, tensor<1x1x2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_c1_rows(%x: tensor<3x4xf32>, %nodes: tensor<2x2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c1: the number of rows of x is 3 but that of nodes is 2}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x4xf32>, tensor<2x2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_c2(%x: tensor<3x4xf32>, %nodes: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<8xf32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c2: feature is tensor<9xi32>, split tensor<8xf32> and below tensor<9xi32>}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x4xf32>, tensor<2xi32>, tensor<9xi32>, tensor<8xf32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_c3(%x: tensor<3x4xf32>, %nodes: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf64>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c3: expects one element type but x is f32, split is f64}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x4xf32>, tensor<2xi32>, tensor<9xi32>, tensor<9xf64>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_c4(%x: tensor<3x4xf32>, %nodes: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c4: levels is 17}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 17 : i64} : (tensor<3x4xf32>, tensor<2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_c5(%x: tensor<3x0xf32>, %nodes: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op c5: x is tensor<3x0xf32> and feature tensor<9xi32> but the result has elements}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x0xf32>, tensor<2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @tree_walk_t1(%x: tensor<3x4xi32>, %nodes: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<9xi32>, %below: tensor<9xi32>) {
  // expected-error @+1 {{'dl.tree_walk' op t1: operand 'x' is i32 but must be one of f64, f32, f16, bf16}}
  %0 = "dl.tree_walk"(%x, %nodes, %feature, %split, %below) {levels = 3 : i64} : (tensor<3x4xi32>, tensor<2xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>) -> tensor<3x2xi32>
  return
}
