// Inside the runtime: who owns the memory that compiled code allocates, should it leave by an error.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

struct BlockHeader;
struct CallScope;
struct ThreadState;

// The blocks that one thread has allocated since `begin` and not freed, while no inner record is open.
class AllocationRecord {
public:
  // Opens the record on the thread of this state.
  void begin(ThreadState &state);
  // Closes it; the blocks stay and belong to whoever knows them.
  void keep(ThreadState &state);
  // Closes it and frees its blocks.
  void release(ThreadState &state);

private:
  friend struct BlockHeader;
  BlockHeader *first;
  AllocationRecord *outer;
  // The call that the blocks count for.
  CallScope *scope;
};

// As _mlir_memref_to_llvm_alloc, but a failure is told to be of `what`.
void *allocateFor(uint64_t size, const char *what);

// Whether a call may hold `results` bytes; else lastErrorRecord() says why not.
bool fitsLimit(const CallScope &scope, uint64_t results);
