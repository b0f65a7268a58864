/* SPDX-License-Identifier: Apache-2.0 */
/* A path of this machine that the caller gave: the directory that it is in, open, and its name. */
#ifndef COFFERDAM_TREE_LOCAL_PATH_H
#define COFFERDAM_TREE_LOCAL_PATH_H

#include <cofferdam/error.h>

typedef struct cdam_local_path {
  char *text;       /* as it was given, without slashes at its end */
  int directory;    /* O_PATH */
  const char *name; /* "." when the path names none, as "/", ".." and "a/." do; into `text` */
} cdam_local_path;

/* CDAM_ERR_NO_MEMORY, CDAM_ERR_IO. To be cleared either way. */
cdam_status cdam_local_path_open(cdam_local_path *path, const char *text, cdam_error *err);
void cdam_local_path_clear(cdam_local_path *path);

#endif
