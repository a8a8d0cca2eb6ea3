/* Calls of the model of mixed_types() that it has to refuse, and one that it takes: a status and a message a line. */
#include "mixed.h"

#include <stdio.h>
#include <stdlib.h>

static void *no_memory(void *user, size_t bytes) {
  (void)user;
  (void)bytes;
  return NULL;
}

static void no_release(void *user, void *memory) {
  (void)user;
  (void)memory;
}

static void show(mixed_status status) {
  if (status)
    printf("%d %s\n", (int)status, mixed_message());
  else
    printf("0\n");
}

int main(void) {
  mixed_context *context = NULL;
  mixed_options options = {0};
  options.threads = -1;
  show(mixed_init(&options, &context));
  options.threads = 1;
  options.allocate = no_memory;
  show(mixed_init(&options, &context));
  options.release = no_release;
  show(mixed_init(&options, &context));
  mixed_init(NULL, &context);
  int64_t left[7] = {1, 2, 3, 4, 5, 6, 0}, right[7] = {0}, scalar = 2;
  mixed_inputs inputs = {left, right, &scalar, 2};
  mixed_outputs outputs = {0};
  inputs.size_n = -1;
  show(mixed_run(context, &inputs, &outputs));
  inputs.size_n = 2;
  inputs.int_ = NULL;
  show(mixed_run(context, &inputs, &outputs));
  inputs.int_ = (const int64_t *)((const char *)right + 1);
  show(mixed_run(context, &inputs, &outputs));
  inputs.int_ = right;
  inputs.size_n = INT64_MAX / 2;
  show(mixed_run(context, &inputs, &outputs));
  inputs.size_n = 2;
  show(mixed_run(context, &inputs, &outputs));
  int64_t sum[6];
  uint16_t half[6];
  uint8_t is_greater[6];
  outputs = (mixed_outputs){sum, half, is_greater};
  show(mixed_run(context, &inputs, &outputs));
  mixed_free(context);
  return 0;
}
