// Runs the model of model.py from C++, on one thread, with memory of its own. CMakeLists.txt builds it.
#include "mlp.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct Free {
  void operator()(mlp_context *context) const { mlp_free(context); }
};
using Context = std::unique_ptr<mlp_context, Free>;

void check(mlp_status status) {
  if (status != MLP_OK)
    throw std::runtime_error(mlp_message());
}

// Counts the blocks that the model holds.
void *allocate(void *held, std::size_t bytes) {
  ++*static_cast<int *>(held);
  return std::malloc(bytes);
}

void release(void *held, void *memory) {
  --*static_cast<int *>(held);
  std::free(memory);
}

Context load(int &held) {
  mlp_options options{};
  options.threads = 1;
  options.allocate = allocate;
  options.release = release;
  options.user = &held;
  mlp_context *context = nullptr;
  check(mlp_init(&options, &context));
  return Context(context);
}

// The scores of rows of four features.
std::vector<float> run(mlp_context *context, const std::vector<float> &x) {
  mlp_inputs inputs{};
  inputs.x = x.data();
  inputs.size_rows = static_cast<std::int64_t>(x.size() / 4);
  std::vector<float> scores(x.size() / 4 * 3);
  mlp_outputs outputs{};
  outputs.scores = scores.data();
  check(mlp_run(context, &inputs, &outputs));
  return scores;
}

} // namespace

int main() {
  int held = 0;
  try {
    Context context = load(held);
    for (float score : run(context.get(), {0.5f, -1.0f, 2.0f, 0.25f, 1.5f, 0.0f, -0.75f, 1.0f}))
      std::printf("%a\n", static_cast<double>(score));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return held == 0 ? 0 : 1;
}
