/* SPDX-License-Identifier: Apache-2.0 */
/* Entries that the agent sends: what is believed of one, and lists of them. */
#ifndef COFFERDAM_FILE_LIST_H
#define COFFERDAM_FILE_LIST_H

#include <cofferdam/file.h>

#include "link/link.h"

/* What a listing may take: CDAM_ERR_LIMIT beyond either. */
#define CDAM_FILE_LIST_ENTRIES 1000000
#define CDAM_FILE_LIST_BYTES (256u * 1024 * 1024)

/* One component of a path, and not "." or "..". */
bool cdam_file_is_name(const ProtobufCBinaryData *name);

/* Is it what a file system can hold? Otherwise false with CDAM_ERR_AGENT; `named`: it also has a
 * name. */
bool cdam_file_entry_check(const Cofferdam__Agent__V1__Entry *entry, bool named,
                           cdam_error *failure);

/* NULL when out of memory. */
cdam_file_list *cdam_file_list_make(void);

/* Adds a checked entry, with its name when it is `named`. CDAM_ERR_NO_MEMORY, CDAM_ERR_LIMIT. */
cdam_status cdam_file_list_add(cdam_file_list *list, const Cofferdam__Agent__V1__Entry *entry,
                               bool named, cdam_error *err);

/* Sorts by name. A name that came twice (the directory changed meanwhile) is there once. */
void cdam_file_list_sort(cdam_file_list *list);

#endif
