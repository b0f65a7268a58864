/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "options/generated.h"

static const cdam_field_info sandbox_options_fields[] = {
    {.json_name = "image", .is_map = false},
    {.json_name = "exposedPorts", .is_map = false},
    {.json_name = "labels", .is_map = true},
    {.json_name = "env", .is_map = true, .sensitive = true},
    {.json_name = "networkMode", .is_map = false, .isolates = true},
    {.json_name = "profile", .is_map = false},
    {.json_name = "memoryBytes", .is_map = false, .isolates = true},
    {.json_name = "nanoCpus", .is_map = false, .isolates = true},
    {.json_name = "pidsLimit", .is_map = false, .isolates = true},
    {.json_name = "tmpfs", .is_map = true},
    {.json_name = "readOnlyRoot", .is_map = false, .isolates = true},
    {.json_name = "user", .is_map = false, .isolates = true},
    {.json_name = "dropAllCapabilities", .is_map = false, .isolates = true},
    {.json_name = "noNewPrivileges", .is_map = false, .isolates = true},
    {.json_name = "runtime", .is_map = false, .isolates = true},
    {.json_name = "ulimits", .is_map = true, .isolates = true},
    {.json_name = "hostname", .is_map = false},
    {.json_name = "platform", .is_map = false},
    {.json_name = "workspace", .is_map = false},
    {.json_name = "deadline", .is_map = false, .isolates = true},
};

static const cdam_field_info session_state_fields[] = {
    {.json_name = "schemaRevision", .is_map = false},
    {.json_name = "requiredFeatures", .is_map = false},
    {.json_name = "sessionId", .is_map = false},
    {.json_name = "options", .is_map = false},
    {.json_name = "imageId", .is_map = false},
    {.json_name = "containerId", .is_map = false},
    {.json_name = "engine", .is_map = false},
    {.json_name = "workspaceReady", .is_map = false},
    {.json_name = "seal", .is_map = false},
};

static const cdam_field_info engine_identity_fields[] = {
    {.json_name = "id", .is_map = false},
};

static const cdam_field_info seal_fields[] = {
    {.json_name = "algorithm", .is_map = false},
    {.json_name = "keyId", .is_map = false},
    {.json_name = "digest", .is_map = false},
};

const cdam_message_info cdam_generated_messages[] = {
    {.descriptor = &cofferdam__v1__sandbox_options__descriptor, .fields = sandbox_options_fields},
    {.descriptor = &cofferdam__v1__session_state__descriptor, .fields = session_state_fields},
    {.descriptor = &cofferdam__v1__engine_identity__descriptor, .fields = engine_identity_fields},
    {.descriptor = &cofferdam__v1__seal__descriptor, .fields = seal_fields},
};

const size_t cdam_generated_message_count =
    sizeof cdam_generated_messages / sizeof *cdam_generated_messages;
