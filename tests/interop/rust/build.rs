// SPDX-License-Identifier: Apache-2.0

//! Bindings of the schema, and of its revision 1 for the program in the middle.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

const PROTOS: [&str; 2] = ["cofferdam/v1/options.proto", "cofferdam/v1/state.proto"];

fn main() -> std::io::Result<()> {
    let schema = PathBuf::from(env::var("COFFERDAM_SCHEMA").expect("COFFERDAM_SCHEMA is set"));
    println!("cargo:rerun-if-env-changed=COFFERDAM_SCHEMA");
    println!("cargo:rerun-if-changed={}", schema.display());
    let files = PROTOS.map(|proto| schema.join(proto));
    prost_build::Config::new().compile_protos(&files, &[&schema])?;
    old_bindings(&schema.join("released/r1.binpb"))
}

/// prost-build runs protoc on files; this one comes from a frozen descriptor set.
fn old_bindings(frozen: &Path) -> std::io::Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("r1");
    fs::create_dir_all(&out)?;
    prost_build::Config::new()
        .out_dir(&out)
        .protoc_arg(format!("--descriptor_set_in={}", frozen.display()))
        .compile_protos(&PROTOS, &["."])
}
