/* SPDX-License-Identifier: Apache-2.0 */
/* Gives files, and the files of directories, to a target, one after the other. Needs no libFuzzer.
 * One TAP case for all: a check that fails ends the program. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t replayed;

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file || fstat(fileno(file), &status) != 0) {
    perror(path);
    exit(1);
  }
  size_t size = (size_t)status.st_size;
  uint8_t *bytes = malloc(size ? size : 1);
  FUZZ_CHECK(bytes && fread(bytes, 1, size, file) == size);
  fclose(file);
  fprintf(stderr, "replay %s\n", path);
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  replayed++;
}

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static void replay_directory(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, alphasort);
  FUZZ_CHECK(count >= 0);
  for (int i = 0; i < count; i++) {
    char name[4096];
    int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    FUZZ_CHECK(length > 0 && (size_t)length < sizeof name);
    replay_file(name);
    free(entries[i]);
  }
  free(entries);
}

int main(int argc, char **argv) {
  LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
  for (int i = 1; i < argc; i++) {
    struct stat status;
    if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
      replay_directory(argv[i]);
    else
      replay_file(argv[i]);
  }
  printf("1..1\n%sok 1 - %zu inputs\n", replayed ? "" : "not ", replayed);
  return replayed ? 0 : 1;
}
