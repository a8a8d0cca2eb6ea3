// Inside the runtime: who owns the memory that compiled code allocates, should it leave by an error.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

struct BlockHeader;

// The blocks that one thread has allocated since `begin` and not freed, while no inner record is open.
class AllocationRecord {
public:
  // Opens the record on this thread.
  void begin();
  // Closes it; the blocks stay and belong to whoever knows them.
  void keep();
  // Closes it and frees its blocks.
  void release();

private:
  friend struct BlockHeader;
  void close();
  BlockHeader *first;
  AllocationRecord *outer;
};
