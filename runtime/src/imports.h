// Inside the runtime: the functions that the code of engines may call.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

// The address of a function that engines may call, null for any other name.
const void *providedFunction(std::string_view name);
