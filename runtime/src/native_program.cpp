// The program that `dlc compile --emit=exe` makes: runs a model on arrays in files.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc/native_model.h"
#include "dlc/runtime.h"
#include "npy_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kUsage = 2;

struct Arguments {
  std::string folder = ".";
  std::string weights;
  int64_t threads = 0;
  bool isHelp = false;
  std::vector<std::string> files;
};

int complain(const std::string &message, int code = 1) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

std::string shapeOf(const dlc_native_model &model, const dlc_native_tensor &tensor) {
  std::string text = std::string(tensor.element) + "[";
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    int64_t size = tensor.sizes[dim];
    text += dim ? ", " : "";
    text += size >= 0 ? std::to_string(size) : size == DLC_NATIVE_UNKNOWN ? "?" : model.size_names[-1 - size];
  }
  return text + "]";
}

int help(const dlc_native_model &model) {
  std::printf("usage: %s [-o FOLDER] [-t THREADS]%s [NAME=]INPUT.npy...\n\nRuns a model on arrays, by name or in this order, and writes NAME.npy for "
              "each result to FOLDER (.).\n\n",
              model.name, model.weights.file ? " [-w WEIGHTS]" : "");
  for (int32_t i = 0; i < model.input_count; ++i)
    std::printf("input   %s: %s\n", model.inputs[i].name, shapeOf(model, model.inputs[i]).c_str());
  for (int32_t i = 0; i < model.output_count; ++i)
    std::printf("output  %s: %s\n", model.outputs[i].name, shapeOf(model, model.outputs[i]).c_str());
  return 0;
}

// What is wrong with the arguments, or nothing.
std::string readArguments(int count, char **texts, Arguments &found) {
  for (int i = 1; i < count; ++i) {
    std::string text = texts[i];
    if (text == "-h" || text == "--help") {
      found.isHelp = true;
      continue;
    }
    if (text != "-o" && text != "-t" && text != "-w") {
      if (text.size() > 1 && text[0] == '-')
        return "there is no option '" + text + "'; see --help";
      found.files.push_back(text);
      continue;
    }
    if (++i == count)
      return "option '" + text + "' needs a value; see --help";
    char *end = nullptr;
    if (text == "-o")
      found.folder = texts[i];
    else if (text == "-w")
      found.weights = texts[i];
    else if ((found.threads = std::strtoll(texts[i], &end, 10)) < 1 || *end)
      return std::string("'") + texts[i] + "' is no number of threads; give 1 or more";
  }
  return "";
}

// The number of the input that an argument is for: by its name before `=`, which goes, else its place. -1 where there is none.
int32_t inputOf(const dlc_native_model &model, std::string &text, int32_t place) {
  for (int32_t i = 0; i < model.input_count; ++i) {
    std::string prefix = std::string(model.inputs[i].name) + "=";
    if (text.compare(0, prefix.size(), prefix) == 0) {
      text.erase(0, prefix.size());
      return i;
    }
  }
  return place < model.input_count ? place : -1;
}

// Sizes of the call from those of an array; what does not fit, or nothing.
std::string readSizes(const dlc_native_model &model, int32_t index, const NpyArray &array, std::vector<int64_t> &sizes) {
  const dlc_native_tensor &tensor = model.inputs[index];
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    int64_t size = array.sizes[static_cast<size_t>(dim)], expected = tensor.sizes[dim];
    if (expected < 0 && sizes[static_cast<size_t>(-1 - expected)] < 0)
      sizes[static_cast<size_t>(-1 - expected)] = size;
    expected = expected < 0 ? sizes[static_cast<size_t>(-1 - expected)] : expected;
    if (size != expected)
      return "input '" + std::string(tensor.name) + "' is " + shapeOf(model, tensor) + ": dim " + std::to_string(dim) + " is " + std::to_string(size) +
             " instead of " + std::to_string(expected);
  }
  return "";
}

std::string readInputs(const dlc_native_model &model, const Arguments &arguments, std::vector<NpyArray> &arrays, std::vector<int64_t> &sizes) {
  std::vector<bool> isThere(arrays.size());
  if (arguments.files.size() != arrays.size())
    return "the model takes " + std::to_string(arrays.size()) + " inputs, not " + std::to_string(arguments.files.size()) + "; see --help";
  for (size_t place = 0; place < arguments.files.size(); ++place) {
    std::string path = arguments.files[place];
    int32_t index = inputOf(model, path, static_cast<int32_t>(place));
    if (index < 0 || isThere[static_cast<size_t>(index)])
      return "'" + path + "' is for an input that has another file; give each as NAME=FILE";
    NpyArray &array = arrays[static_cast<size_t>(index)];
    array = readNpy(path, model.inputs[index]);
    std::string fault = array.fault.empty() ? readSizes(model, index, array, sizes) : array.fault;
    if (!fault.empty())
      return fault;
    isThere[static_cast<size_t>(index)] = true;
  }
  return "";
}

std::string fileOf(const std::string &folder, const char *name) {
  std::string stem = name;
  for (char &letter : stem)
    letter = letter == '/' ? '_' : letter;
  return folder + "/" + stem + ".npy";
}

std::string writeResult(const dlc_native_tensor &tensor, const dlc_native_result &result, const std::string &folder) {
  uint64_t bytes = static_cast<uint64_t>(tensor.element_bytes);
  std::string shape;
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    bytes *= static_cast<uint64_t>(result.sizes[dim]);
    shape += (dim ? ", " : "") + std::to_string(result.sizes[dim]);
  }
  std::string path = fileOf(folder, tensor.name), fault = writeNpy(path, tensor, result.sizes, result.data, bytes);
  if (fault.empty())
    std::printf("%s: %s[%s] in %s\n", tensor.name, tensor.element, shape.c_str(), path.c_str());
  return fault;
}

int runModel(const dlc_native_model &model, const Arguments &arguments, dlc_native_context *context) {
  std::vector<NpyArray> arrays(static_cast<size_t>(model.input_count));
  std::vector<int64_t> sizes(static_cast<size_t>(model.size_count), -1);
  std::string fault = readInputs(model, arguments, arrays, sizes);
  if (!fault.empty())
    return complain(fault);
  std::vector<const void *> inputs;
  for (const NpyArray &array : arrays)
    inputs.push_back(array.memory.data());
  std::vector<std::vector<int64_t>> shapes;
  std::vector<dlc_native_result> results;
  for (int32_t i = 0; i < model.output_count; ++i) {
    shapes.emplace_back(static_cast<size_t>(model.outputs[i].rank));
    results.push_back({nullptr, -1, shapes.back().data(), 1});
  }
  if (dlc_native_run(context, inputs.data(), sizes.data(), results.data()))
    return complain(dlc_last_error());
  for (int32_t i = 0; i < model.output_count && fault.empty(); ++i)
    fault = writeResult(model.outputs[i], results[static_cast<size_t>(i)], arguments.folder);
  for (dlc_native_result &result : results)
    dlc_native_release(result.data);
  return fault.empty() ? 0 : complain(fault);
}

} // namespace

int dlc_native_main(const dlc_native_model *model, int count, char **texts) {
  Arguments arguments;
  std::string fault = readArguments(count, texts, arguments);
  if (!fault.empty())
    return complain(fault, kUsage);
  if (arguments.isHelp)
    return help(*model);
  dlc_native_options options{arguments.threads, 0, nullptr, nullptr, nullptr, arguments.weights.empty() ? nullptr : arguments.weights.c_str()};
  dlc_native_context *context = nullptr;
  if (dlc_native_init(model, &options, &context))
    return complain(dlc_last_error());
  int code = runModel(*model, arguments, context);
  dlc_native_free(context);
  return code;
}
