/* Cancels calls of an engine until one has ended so: cancel_engine ENGINE. Then the engine must still give the same results.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlc/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int state; /* 0: a call runs; 1: it has ended well; 2: it was cancelled; 3: anything else */

static void note_end(void *context, dlc_status status, const char *message) {
  (void)context;
  if (status != DLC_OK && (status != DLC_CANCELLED || !strstr(message, "the call was cancelled before")))
    fprintf(stderr, "status %d: %s\n", status, message);
  state = status == DLC_OK ? 1 : status == DLC_CANCELLED ? 2 : 3;
}

int main(int count, char **arguments) {
  static float numbers[256];
  dlc_engine *engine;
  dlc_tensor input = {numbers, sizeof numbers, DLC_SIGNATURE_SHAPE, {0}}, first = {0}, last = {0};
  if (count != 2 || dlc_engine_load(arguments[1], NULL, &engine) || dlc_engine_run(engine, &input, 1, &first, 1))
    return fprintf(stderr, "%s\n", dlc_last_error()), 1;
  while (state != 2) {
    dlc_tensor output = {0};
    state = 0;
    if (dlc_engine_run_async(engine, &input, 1, &output, 1, note_end, NULL))
      return fprintf(stderr, "%s\n", dlc_last_error()), 1;
    while (state == 0)
      dlc_engine_cancel(engine);
    if (state == 3 || (state == 2 && output.data))
      return 1;
    dlc_tensor_free(&output);
  }
  if (dlc_engine_run(engine, &input, 1, &last, 1) || memcmp(first.data, last.data, first.bytes) != 0)
    return fprintf(stderr, "%s\n", dlc_last_error()), 1;
  dlc_tensor_free(&first);
  dlc_tensor_free(&last);
  /* The engine waits for a call that is still running. */
  state = 0;
  dlc_tensor output = {0};
  if (dlc_engine_run_async(engine, &input, 1, &output, 1, note_end, NULL))
    return 1;
  dlc_engine_free(engine);
  while (state == 0)
    usleep(100);
  dlc_tensor_free(&output);
  return state != 1;
}
