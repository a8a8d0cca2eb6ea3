// Inside the runtime: how much memory the system has left.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// Bytes that this process can still get: what the system calls available, and what its control group has left. A large number
// where the system does not tell.
uint64_t availableMemory();
