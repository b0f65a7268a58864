// SPDX-License-Identifier: Apache-2.0

// driver [--key FILE] read FILE… | write DIR | EDIT IN OUT: what the suite asks of Go.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	cofferdam "example/interop/cofferdam/v1"
	"example/interop/cofferdamstate"
)

const me = "go"

func minimal() *cofferdam.SessionState {
	return &cofferdam.SessionState{
		SchemaRevision: 2,
		SessionId:      "0f8fad5b-d9cb-469f-a165-70867728950e",
		ImageId:        "sha256:" + strings.Repeat("1a", 32),
		ContainerId:    strings.Repeat("c0", 32),
		Options:        &cofferdam.SandboxOptions{Image: "busybox:test"},
	}
}

func full() *cofferdam.SessionState {
	state := minimal()
	state.RequiredFeatures = []cofferdam.Feature{cofferdam.Feature_FEATURE_NETWORK_ISOLATION}
	state.Options.ExposedPorts = []uint32{8080, 80}
	state.Options.Labels = map[string]string{}
	for i := 0; i < 20; i++ {
		state.Options.Labels[fmt.Sprintf("label-%d", i)] = fmt.Sprintf("wert-ü-%d", i)
	}
	state.Options.Env = map[string]string{"EMPTY": "", "A": "x=y\n\U0001f512"}
	state.Options.NetworkMode = cofferdam.NetworkMode_NETWORK_MODE_NONE
	state.Engine = &cofferdam.EngineIdentity{Id: "ABCD:EFGH"}
	state.WorkspaceReady = true
	return state
}

var careful = map[string]func(*cofferdam.SessionState){
	"change": func(s *cofferdam.SessionState) { s.WorkspaceReady = !s.WorkspaceReady },
	"relabel": func(s *cofferdam.SessionState) {
		if s.Options.Labels == nil {
			s.Options.Labels = map[string]string{}
		}
		s.Options.Labels["changed-by"] = me
	},
}

var careless = map[string]func(*cofferdam.SessionState){
	"strip": func(s *cofferdam.SessionState) {
		s.Options.NetworkMode = cofferdam.NetworkMode_NETWORK_MODE_UNSET
	},
	"unlist":  func(s *cofferdam.SessionState) { s.RequiredFeatures = nil },
	"feature": func(s *cofferdam.SessionState) { s.RequiredFeatures = append(s.RequiredFeatures, 99) },
	"copy":    func(*cofferdam.SessionState) {},
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func show(path string, key []byte) {
	state, err := cofferdamstate.Read(must(os.ReadFile(path)), key)
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	fmt.Println(string(must(protojson.Marshal(state))))
}

func put(path string, data []byte) {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		log.Fatal(err)
	}
}

func write(folder string, key []byte) {
	put(filepath.Join(folder, "full-unsealed"), must(proto.Marshal(full())))
	put(filepath.Join(folder, "full-sha256"), must(cofferdamstate.Seal(full(), nil, "")))
	put(filepath.Join(folder, "full-hmac"), must(cofferdamstate.Seal(full(), key, "test-key")))
	put(filepath.Join(folder, "minimal-sha256"), must(cofferdamstate.Seal(minimal(), nil, "")))
}

func edit(name, source, target string, key []byte) {
	data := must(os.ReadFile(source))
	state := &cofferdam.SessionState{}
	change, isCareful := careful[name]
	if isCareful {
		state = must(cofferdamstate.Read(data, key))
	} else {
		change = careless[name]
		if err := proto.Unmarshal(data, state); err != nil {
			log.Fatal(err)
		}
	}
	change(state)
	put(target, must(cofferdamstate.Seal(state, key, "test-key")))
}

func main() {
	arguments := os.Args[1:]
	var key []byte
	if arguments[0] == "--key" {
		key, arguments = must(os.ReadFile(arguments[1])), arguments[2:]
	}
	switch arguments[0] {
	case "read":
		for _, path := range arguments[1:] {
			show(path, key)
		}
	case "write":
		write(arguments[1], key)
	default:
		edit(arguments[0], arguments[1], arguments[2], key)
	}
}
