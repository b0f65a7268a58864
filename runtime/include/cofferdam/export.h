/* SPDX-License-Identifier: Apache-2.0 */
/* How public symbols are declared. */
#ifndef COFFERDAM_EXPORT_H
#define COFFERDAM_EXPORT_H

#if defined(__GNUC__)
#define CDAM_API __attribute__((visibility("default")))
#define CDAM_CHECK __attribute__((warn_unused_result))
#else
#define CDAM_API
#define CDAM_CHECK
#endif

#ifdef __cplusplus
#define CDAM_BEGIN_DECLS extern "C" {
#define CDAM_END_DECLS }
#else
#define CDAM_BEGIN_DECLS
#define CDAM_END_DECLS
#endif

#endif
