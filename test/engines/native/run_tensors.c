/* Runs an engine on files of bytes: run_tensors ENGINE OUTPUTS [INPUT RANK SIZES...]... Output K is written to OUTPUTSK.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlc/runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, dlc_last_error());
  return 1;
}

int main(int count, char **arguments) {
  dlc_engine *engine;
  dlc_options options = {sizeof options, 2, 0, NULL, 1};
  if (dlc_engine_load(arguments[1], &options, &engine) != DLC_OK)
    return fail("load");
  dlc_tensor inputs[MOST] = {{0}}, outputs[MOST] = {{0}};
  int given = 0;
  for (int at = 3; at < count && given < MOST; ++given) {
    dlc_tensor *input = &inputs[given];
    FILE *file = fopen(arguments[at++], "rb");
    fseek(file, 0, SEEK_END);
    input->bytes = (uint64_t)ftell(file);
    rewind(file);
    input->data = aligned_alloc(64, (input->bytes + 64) / 64 * 64);
    if (fread(input->data, 1, input->bytes, file) != input->bytes)
      return fail("input");
    fclose(file);
    input->rank = atoi(arguments[at++]);
    for (int axis = 0; axis < input->rank; ++axis)
      input->sizes[axis] = atoll(arguments[at++]);
  }
  int64_t results = dlc_engine_output_count(engine);
  if (dlc_engine_run(engine, inputs, given, outputs, results) != DLC_OK)
    return fail("run");
  for (int64_t index = 0; index < results; ++index) {
    char name[4096];
    snprintf(name, sizeof name, "%s%d", arguments[2], (int)index);
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(outputs[index].data, 1, outputs[index].bytes, file) != outputs[index].bytes || fclose(file))
      return fail("output");
    dlc_tensor_free(&outputs[index]);
  }
  dlc_engine_free(engine);
  return 0;
}
