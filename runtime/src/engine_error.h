// Inside the runtime: why an engine cannot be loaded or called. Thrown inside of the C interface, never out of it.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dlc/runtime.h"

#include <string>
#include <utility>

struct EngineError {
  EngineError(dlc_status code, std::string text) : status(code), message(std::move(text)) {}

  dlc_status status;
  std::string message;
};
