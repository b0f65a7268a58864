// SPDX-License-Identifier: Apache-2.0

//! Seals, verifies and reads Cofferdam states. Copy it, it is yours.
//!
//! Without a key a seal is SHA-256, which finds damage; with one HMAC-SHA-256, which finds forgery.

use hmac::{Hmac, Mac};
use prost::Message;
use sha2::{Digest, Sha256};

use crate::cofferdam_v1::{Feature, Seal, SealAlgorithm, SessionState};

/// The HMAC of the bytes. It compares in constant time.
fn mac(body: &[u8], key: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.chain_update(body)
}

fn seal_field(seal: Seal) -> Vec<u8> {
    SessionState { seal: Some(seal), ..Default::default() }.encode_to_vec()
}

/// The bytes of the state, with a new seal as the last field.
pub fn seal(state: &SessionState, key: Option<&[u8]>, key_id: &str) -> Vec<u8> {
    let mut data = SessionState { seal: None, ..state.clone() }.encode_to_vec();
    let mut seal = Seal::default();
    if let Some(key) = key {
        seal.set_algorithm(SealAlgorithm::HmacSha256);
        seal.key_id = key_id.to_owned();
        seal.digest = mac(&data, key).finalize().into_bytes().to_vec();
    } else {
        seal.set_algorithm(SealAlgorithm::Sha256);
        seal.digest = Sha256::digest(&data).to_vec();
    }
    data.extend(seal_field(seal));
    data
}

/// Whether the state is sealed in the way that is wanted, and unchanged since.
pub fn verify(data: &[u8], key: Option<&[u8]>) -> bool {
    let found = SessionState::decode(data).ok().and_then(|state| state.seal);
    let seal = match found {
        Some(seal) => seal,
        None => return false,
    };
    let body = match data.strip_suffix(&seal_field(seal.clone())[..]) {
        Some(body) => body,
        None => return false,
    };
    match key {
        Some(key) => {
            seal.algorithm() == SealAlgorithm::HmacSha256
                && mac(body, key).verify_slice(&seal.digest).is_ok()
        }
        None => {
            seal.algorithm() == SealAlgorithm::Sha256
                && Sha256::digest(body).as_slice() == seal.digest
        }
    }
}

/// The state. With a key, nothing that is not sealed with it is read.
pub fn read(data: &[u8], key: Option<&[u8]>) -> Result<SessionState, String> {
    let state = SessionState::decode(data).map_err(|error| error.to_string())?;
    if (key.is_some() || state.seal.is_some()) && !verify(data, key) {
        return Err("the seal is missing or wrong".into());
    }
    match state.required_features.iter().find(|feature| !Feature::is_valid(**feature)) {
        Some(feature) => {
            Err(format!("the state needs feature {feature}, which this program does not know"))
        }
        None => Ok(state),
    }
}
