// SPDX-License-Identifier: Apache-2.0

//! old IN OUT: a program of schema r1 in the middle. It says what a careful reader would do, and
//! then does what a careless one does: change a field and seal again.

#[allow(dead_code, clippy::all)]
mod cofferdam_v1 {
    include!(concat!(env!("OUT_DIR"), "/r1/cofferdam.v1.rs"));
}
#[path = "../cofferdam_state.rs"]
mod cofferdam_state;

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<_> = std::env::args().skip(1).collect();
    let data = std::fs::read(&paths[0])?;
    match cofferdam_state::read(&data, None) {
        Ok(_) => println!("read"),
        Err(error) => println!("refused: {error}"),
    }
    let mut state = cofferdam_v1::SessionState::decode(&data[..])?;
    state.workspace_ready = !state.workspace_ready;
    std::fs::write(&paths[1], cofferdam_state::seal(&state, None, ""))?;
    Ok(())
}
