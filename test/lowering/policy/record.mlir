// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-pass-results | filecheck %s
// What a module says of the policy is its fields as JSON.

// CHECK: module attributes {dlc.policy = "{\22tile_threads\22: 8}"}
module attributes {dlc.policy = "{\"tile_threads\": 8}"} {
}

// -----

// expected-error@unknown {{'dlc.policy' of the module is no JSON object of the policy's fields; leave it to the compiler}}
module attributes {dlc.policy = 3 : i64} {
}

// -----

// expected-error@unknown {{'dlc.policy' of the module is no JSON object of the policy's fields; leave it to the compiler}}
module attributes {dlc.policy = "{"} {
}

// -----

// expected-error@unknown {{'dlc.policy' of the module is no JSON object of the policy's fields; leave it to the compiler}}
module attributes {dlc.policy = "[1]"} {
}
