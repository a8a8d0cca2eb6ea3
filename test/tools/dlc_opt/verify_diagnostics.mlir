// RUN: dlc-opt %s --verify-diagnostics --split-input-file --transform-interpreter
// Expectations on the same line, at an offset, above, below and as regular expressions, of every severity.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %functions = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %functions, "a function" : !transform.any_op
    transform.yield
  }
  func.func @same_line() { return } // expected-remark {{a function}}
  // expected-remark@+2 {{function}}

  func.func @offset() { return }
  // expected-remark@below {{a func}}
  func.func @below() { return }
  func.func @above() { return }
  // expected-remark@above {{a func}}
  func.func @before() { return }
  // expected-remark @-1 {{a}}
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
{-#
  external_resources: {
    // expected-warning@+1 {{ignoring unknown external resources for 'something'}}
    something: { key: "0x04000000" }
  }
#-}

// -----

func.func @verifier(%x: tensor<4xf32>) {
  // expected-error-re@+1 {{'dl.relu' op result {{.*}} has type tensor<{{[0-9]}}xf32>}}
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// expected-note@+1 {{see existing symbol definition here}}
func.func @twice() { return }
func.func @twice() { return }
// expected-error @-1 {{redefinition of symbol named 'twice'}}

// -----

func.func @custom_form(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.relu' has the generic form only; quote its name: "dl.relu"(...)}}
  %0 = dl.relu(%x) : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{unregistered operation 'dl.nosuch' found in dialect ('dl')}}
"dl.nosuch"() : () -> ()
