// The choice of a variant: by the features of the processor, and the compute capability and driver of the GPU.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine_choice.h"
#include "dlc_runtime.h"
#include "processor_features.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace {

// The feature of code beside a GPU, so that readers that know of no GPU pass it over.
constexpr const char *kGpuFeature = "cuda";
constexpr const char *kCubin = "cubin", *kPtx = "ptx";
// What dlc_gpu_facts gives, and where the driver's version and both numbers of the compute capability stand there.
constexpr size_t kFacts = 8, kDriverAt = 0, kMajorAt = 1, kMinorAt = 2, kNameBytes = 256;
// Compute capabilities with one major number: 90 and 91.
constexpr int64_t kMinors = 10;

std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string dotted(int64_t number) { return std::to_string(number / kMinors) + "." + std::to_string(number % kMinors); }

// The version of CUDA as people write it: 12040 is 12.4.
std::string cudaVersion(int64_t number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

// The first GPU, looked for once.
class Gpu {
public:
  Gpu() {
    int64_t facts[kFacts];
    char called[kNameBytes];
    if (dlc_gpu_facts(facts, called, kNameBytes)) {
      lack = dlc_last_error();
      return;
    }
    name = called;
    driver = facts[kDriverAt];
    capability = kMinors * facts[kMajorAt] + facts[kMinorAt];
  }

  // What kernels need that is not here; empty for such as can run.
  std::string lackOf(const KernelsEntry &kernels) const {
    if (!lack.empty())
      return "needs a GPU: " + lack;
    bool isCubin = kernels.form == kCubin;
    if (!isCubin && kernels.form != kPtx)
      return "has kernels of the form '" + kernels.form + "', which this runtime does not know";
    if (kernels.isExact && capability != kernels.capability)
      return "is for " + kernels.chip + " alone, and " + name + " has compute capability " + dotted(capability);
    if (capability < kernels.capability)
      return "needs compute capability " + dotted(kernels.capability) + ", and " + name + " has " + dotted(capability);
    if (isCubin && capability / kMinors != kernels.capability / kMinors)
      return "has a cubin for compute capability " + std::to_string(kernels.capability / kMinors) + ".x, and " + name + " has " +
             dotted(capability);
    if (driver < kernels.cuda)
      return "needs a driver of CUDA " + cudaVersion(kernels.cuda) + ", and that of " + name + " knows " + cudaVersion(driver) +
             ": update it";
    return "";
  }

private:
  std::string lack, name;
  int64_t driver = 0, capability = 0;
};

class Chooser {
public:
  explicit Chooser(const std::vector<VariantEntry> &from) : variants(from) {}

  VariantChoice choose() {
    for (size_t number = 0; number < variants.size(); ++number)
      consider(number);
    if (!best)
      refuse();
    best->passedOver = joined(gpuLacks);
    return *best;
  }

private:
  // For a GPU, its compute capability, features.
  using Rank = std::tuple<bool, int64_t, size_t>;

  void consider(size_t number) {
    const VariantEntry &variant = variants[number];
    VariantChoice choice;
    choice.variant = number;
    std::string lack = lackOfProcessor(variant);
    if (lack.empty() && variant.isForGpu())
      lack = chooseKernels(variant, choice);
    if (!lack.empty()) {
      lack = variant.target + ", which " + lack;
      lacks.push_back(lack);
      if (variant.isForGpu())
        gpuLacks.push_back(lack);
      return;
    }
    int64_t capability = variant.isForGpu() ? variant.kernelForms[choice.kernels].capability : 0;
    Rank rank{variant.isForGpu(), capability, variant.features.size()};
    if (best && rank <= bestRank)
      return;
    best = choice;
    bestRank = rank;
  }

  std::string lackOfProcessor(const VariantEntry &variant) const {
    if (variant.architecture != kArchitecture)
      return "is of " + variant.architecture;
    std::vector<std::string> missing;
    for (const std::string &feature : variant.features)
      if (presenceOf(feature) != Presence::present && !(variant.isForGpu() && feature == kGpuFeature))
        missing.push_back(feature);
    return missing.empty() ? "" : "needs " + joined(missing);
  }

  // The first form that the GPU runs, and the others that it does; what the last one lacks, if there is none.
  std::string chooseKernels(const VariantEntry &variant, VariantChoice &choice) {
    if (!gpu)
      gpu.emplace();
    std::string lack;
    std::vector<size_t> forms;
    for (size_t form = 0; form < variant.kernelForms.size(); ++form) {
      std::string lacked = gpu->lackOf(variant.kernelForms[form]);
      if (lacked.empty())
        forms.push_back(form);
      else
        lack = lacked;
    }
    if (forms.empty())
      return lack;
    choice.kernels = forms[0];
    choice.otherKernels.assign(forms.begin() + 1, forms.end());
    return "";
  }

  [[noreturn]] void refuse() const {
    std::string machine = "; this processor is of " + std::string(kArchitecture);
    std::string remedy = lacks.empty()      ? ": compile with a --target for it"
                         : gpuLacks.empty() ? " and lacks that: compile with a --target for it"
                                            : ": compile for it, too, as by --target gpu:sm_90,cpu:x86-64-v3, and one file runs with a "
                                              "GPU and without";
    throw EngineError(DLC_WRONG_MACHINE, "it has code for " + (lacks.empty() ? "no machine" : joined(lacks)) + machine + remedy);
  }

  const std::vector<VariantEntry> &variants;
  std::optional<Gpu> gpu;
  std::optional<VariantChoice> best;
  Rank bestRank;
  std::vector<std::string> lacks, gpuLacks;
};

} // namespace

VariantChoice chooseVariant(const std::vector<VariantEntry> &variants) { return Chooser(variants).choose(); }
