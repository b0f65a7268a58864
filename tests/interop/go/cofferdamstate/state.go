// SPDX-License-Identifier: Apache-2.0

// Package cofferdamstate seals, verifies and reads Cofferdam states. Copy it, it is yours.
//
// Without a key (nil) a seal is SHA-256, which finds damage; with one HMAC-SHA-256, which finds
// forgery.
package cofferdamstate

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	cofferdam "example/interop/cofferdam/v1"
)

func sealField(body, key []byte, keyID string) ([]byte, error) {
	digest := sha256.Sum256(body)
	seal := &cofferdam.Seal{
		Algorithm: cofferdam.SealAlgorithm_SEAL_ALGORITHM_SHA256,
		Digest:    digest[:],
	}
	if key != nil {
		mac := hmac.New(sha256.New, key)
		mac.Write(body)
		seal = &cofferdam.Seal{
			Algorithm: cofferdam.SealAlgorithm_SEAL_ALGORITHM_HMAC_SHA256,
			KeyId:     keyID,
			Digest:    mac.Sum(nil),
		}
	}
	return proto.Marshal(&cofferdam.SessionState{Seal: seal})
}

// Seal gives the bytes of the state, with a new seal as the last field.
func Seal(state *cofferdam.SessionState, key []byte, keyID string) ([]byte, error) {
	state.Seal = nil
	body, err := proto.Marshal(state)
	if err != nil {
		return nil, err
	}
	field, err := sealField(body, key, keyID)
	return append(body, field...), err
}

// Verify says whether the state is sealed in the way that is wanted, and unchanged since.
func Verify(data, key []byte) bool {
	state := &cofferdam.SessionState{}
	if proto.Unmarshal(data, state) != nil || state.Seal == nil {
		return false
	}
	body := data[:len(data)-proto.Size(&cofferdam.SessionState{Seal: state.Seal})]
	field, err := sealField(body, key, state.Seal.KeyId)
	return err == nil && hmac.Equal(data[len(body):], field)
}

// Read gives the state. With a key, nothing that is not sealed with it is read.
func Read(data, key []byte) (*cofferdam.SessionState, error) {
	state := &cofferdam.SessionState{}
	if err := proto.Unmarshal(data, state); err != nil {
		return nil, err
	}
	if (key != nil || state.Seal != nil) && !Verify(data, key) {
		return nil, errors.New("the seal is missing or wrong")
	}
	for _, feature := range state.RequiredFeatures {
		if _, known := cofferdam.Feature_name[int32(feature)]; !known {
			return nil, fmt.Errorf("the state needs feature %d, which this program does not know",
				feature)
		}
	}
	return state, nil
}
