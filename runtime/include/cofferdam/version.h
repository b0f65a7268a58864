/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of the headers, the library and the schema. */
#ifndef COFFERDAM_VERSION_H
#define COFFERDAM_VERSION_H

#include <cofferdam/export.h>

/* The version of these headers. */
#define CDAM_VERSION "0.1.0"

CDAM_BEGIN_DECLS

/* The version of the library at run time, "MAJOR.MINOR.PATCH". Static.
 * Since 0.1. */
CDAM_API const char *cdam_version(void);

/* The newest schema revision that the library knows. Since 0.1. */
CDAM_API unsigned cdam_schema_revision(void);

CDAM_END_DECLS

#endif
