// SPDX-License-Identifier: Apache-2.0

//! driver [--key FILE] read FILE… | write DIR | EDIT IN OUT: what the suite asks of Rust.

#[allow(dead_code, clippy::all)]
mod cofferdam_v1 {
    include!(concat!(env!("OUT_DIR"), "/cofferdam.v1.rs"));
}
#[path = "../cofferdam_state.rs"]
mod cofferdam_state;
#[path = "../json.rs"]
mod json;

use std::{error::Error, fs, path::Path};

use cofferdam_state::{read, seal};
use cofferdam_v1::{EngineIdentity, Feature, NetworkMode, SandboxOptions, SessionState};
use prost::Message;

const ME: &str = "rust";

type Outcome = Result<(), Box<dyn Error>>;

fn minimal() -> SessionState {
    SessionState {
        schema_revision: 2,
        session_id: "0f8fad5b-d9cb-469f-a165-70867728950e".into(),
        image_id: format!("sha256:{}", "1a".repeat(32)),
        container_id: "c0".repeat(32),
        options: Some(SandboxOptions { image: "busybox:test".into(), ..Default::default() }),
        ..Default::default()
    }
}

fn full() -> SessionState {
    let mut state = minimal();
    state.push_required_features(Feature::NetworkIsolation);
    let options = state.options.get_or_insert_with(Default::default);
    options.exposed_ports = vec![8080, 80];
    for i in 0..20 {
        options.labels.insert(format!("label-{i}"), format!("wert-ü-{i}"));
    }
    options.env.insert("EMPTY".into(), String::new());
    options.env.insert("A".into(), "x=y\n\u{1f512}".into());
    options.set_network_mode(NetworkMode::None);
    state.engine = Some(EngineIdentity { id: "ABCD:EFGH".into() });
    state.workspace_ready = true;
    state
}

fn apply(name: &str, state: &mut SessionState) -> Outcome {
    let options = state.options.get_or_insert_with(Default::default);
    match name {
        "change" => state.workspace_ready = !state.workspace_ready,
        "relabel" => drop(options.labels.insert("changed-by".into(), ME.into())),
        "strip" => options.set_network_mode(NetworkMode::Unset),
        "unlist" => state.required_features.clear(),
        "feature" => state.required_features.push(99),
        "copy" => {}
        _ => return Err(format!("no such edit: {name}").into()),
    }
    Ok(())
}

fn show(path: &str, key: Option<&[u8]>) -> Outcome {
    match read(&fs::read(path)?, key) {
        Ok(state) => println!("{}", json::of_state(&state)),
        Err(error) => println!("refused: {error}"),
    }
    Ok(())
}

fn write(folder: &Path, key: Option<&[u8]>) -> Outcome {
    fs::write(folder.join("full-unsealed"), full().encode_to_vec())?;
    fs::write(folder.join("full-sha256"), seal(&full(), None, ""))?;
    fs::write(folder.join("full-hmac"), seal(&full(), key, "test-key"))?;
    fs::write(folder.join("minimal-sha256"), seal(&minimal(), None, ""))?;
    Ok(())
}

fn edit(name: &str, source: &str, target: &str, key: Option<&[u8]>) -> Outcome {
    let data = fs::read(source)?;
    let mut state = match name {
        "change" | "relabel" => read(&data, key)?,
        _ => SessionState::decode(&data[..])?,
    };
    apply(name, &mut state)?;
    fs::write(target, seal(&state, key, "test-key"))?;
    Ok(())
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut rest: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut key = None;
    if rest[0] == "--key" {
        key = Some(fs::read(rest[1])?);
        rest.drain(..2);
    }
    let key = key.as_deref();
    match rest[..] {
        ["read", ref paths @ ..] => paths.iter().try_for_each(|path| show(path, key)),
        ["write", folder] => write(Path::new(folder), key),
        [name, source, target] => edit(name, source, target, key),
        _ => Err("wrong usage".into()),
    }
}
