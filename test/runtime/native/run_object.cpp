// Calls the entry `main_graph` of a compiled object on f32 arrays of the shapes that the arguments say, and prints the sum of
// each result: `out:<rank>` for each result, `in:<size>,...` for each input, whose elements are 0, 0.25, ... 1.5, 0, ...
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" void _mlir__mlir_ciface_main_graph(void **);

namespace {

using Words = std::vector<int64_t>;

std::vector<int64_t> sizes(const char *text) {
  std::vector<int64_t> found;
  for (char *end = nullptr; *text; text = *end ? end + 1 : end)
    found.push_back(std::strtol(text, &end, 10));
  return found;
}

// The descriptor of a new array, exactly as large as its elements.
Words input(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  auto *values = static_cast<float *>(std::malloc(static_cast<size_t>(count) * sizeof(float)));
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % 7) * 0.25f;
  Words words{reinterpret_cast<int64_t>(values), reinterpret_cast<int64_t>(values), 0};
  words.insert(words.end(), shape.begin(), shape.end());
  for (size_t axis = 0, stride = static_cast<size_t>(count); axis < shape.size(); ++axis)
    words.push_back(static_cast<int64_t>(stride /= static_cast<size_t>(shape[axis])));
  return words;
}

void printSum(int64_t *words, int64_t rank) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < rank; ++axis)
    count *= words[3 + axis];
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += reinterpret_cast<float *>(words[1])[words[2] + i];
  std::printf("%.9g\n", sum);
  _mlir_memref_to_llvm_free(reinterpret_cast<void *>(words[0]));
}

} // namespace

int main(int argc, char **argv) {
  Words results, ranks;
  std::vector<Words> inputs;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "out:", 4) == 0) {
      ranks.push_back(std::atoi(argv[i] + 4));
      results.resize(results.size() + 3 + 2 * static_cast<size_t>(ranks.back()));
    } else {
      inputs.push_back(input(sizes(argv[i] + 3)));
    }
  }
  std::vector<void *> records{results.data()}, table;
  for (Words &words : inputs)
    records.push_back(words.data());
  for (void *&record : records)
    table.push_back(&record);
  _mlir__mlir_ciface_main_graph(table.data());
  int64_t *words = results.data();
  for (int64_t rank : ranks) {
    printSum(words, rank);
    words += 3 + 2 * rank;
  }
  for (Words &input : inputs)
    std::free(reinterpret_cast<void *>(input[0]));
  return 0;
}
