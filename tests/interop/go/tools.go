// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins the version of the generator.
package tools

import _ "google.golang.org/protobuf/cmd/protoc-gen-go"
