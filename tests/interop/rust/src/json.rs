// SPDX-License-Identifier: Apache-2.0

//! prost has no ProtoJSON of its own: every field by hand, in its form and with its names.

use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Map, Value};

use crate::cofferdam_v1::{
    Feature, NetworkMode, Profile, SandboxOptions, Seal, SealAlgorithm, SessionState,
};

/// An enum by name, or an unknown one by number.
fn name(known: Option<&'static str>, number: i32) -> Value {
    known.map_or_else(|| number.into(), Value::from)
}

/// Without the fields that have their default, which ProtoJSON leaves out.
fn object(fields: Value) -> Value {
    let mut kept = Map::new();
    if let Value::Object(fields) = fields {
        kept = fields.into_iter().filter(|(_, value)| !is_default(value)).collect();
    }
    Value::Object(kept)
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(value) => value.as_u64() == Some(0),
        Value::String(value) => value.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(_) => false,
    }
}

fn of_map(map: &std::collections::HashMap<String, String>) -> Value {
    if map.is_empty() {
        Value::Null
    } else {
        json!(map)
    }
}

/// ProtoJSON has numbers of 64 bits as text.
fn of_u64(number: u64) -> Value {
    if number == 0 {
        Value::Null
    } else {
        number.to_string().into()
    }
}

fn of_options(options: &SandboxOptions) -> Value {
    let mode = NetworkMode::try_from(options.network_mode).ok();
    let mode = match options.network_mode {
        0 => Value::Null,
        number => name(mode.map(|mode| mode.as_str_name()), number),
    };
    let profile = Profile::try_from(options.profile).ok();
    let profile = match options.profile {
        0 => Value::Null,
        number => name(profile.map(|profile| profile.as_str_name()), number),
    };
    object(json!({
        "image": options.image,
        "exposedPorts": options.exposed_ports,
        "labels": of_map(&options.labels),
        "env": of_map(&options.env),
        "networkMode": mode,
        "profile": profile,
        "memoryBytes": of_u64(options.memory_bytes),
        "nanoCpus": of_u64(options.nano_cpus),
        "pidsLimit": options.pids_limit,
        "tmpfs": of_map(&options.tmpfs),
        "readOnlyRoot": options.read_only_root,
        "user": options.user,
        "dropAllCapabilities": options.drop_all_capabilities,
        "noNewPrivileges": options.no_new_privileges,
        "runtime": options.runtime,
        "ulimits": of_map(&options.ulimits),
        "hostname": options.hostname,
        "platform": options.platform,
        "workspace": options.workspace,
        "deadline": of_u64(options.deadline),
    }))
}

fn of_seal(seal: &Seal) -> Value {
    let algorithm = SealAlgorithm::try_from(seal.algorithm).ok();
    object(json!({
        "algorithm": name(algorithm.map(|known| known.as_str_name()), seal.algorithm),
        "keyId": seal.key_id,
        "digest": STANDARD.encode(&seal.digest),
    }))
}

pub fn of_state(state: &SessionState) -> Value {
    let features = state.required_features.iter().map(|number| {
        name(Feature::try_from(*number).ok().map(|known| known.as_str_name()), *number)
    });
    object(json!({
        "schemaRevision": state.schema_revision,
        "requiredFeatures": features.collect::<Vec<_>>(),
        "sessionId": state.session_id,
        "options": state.options.as_ref().map(of_options),
        "imageId": state.image_id,
        "containerId": state.container_id,
        "engine": state.engine.as_ref().map(|engine| object(json!({"id": engine.id}))),
        "workspaceReady": state.workspace_ready,
        "seal": state.seal.as_ref().map(of_seal),
    }))
}
