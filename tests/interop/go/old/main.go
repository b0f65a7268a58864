// SPDX-License-Identifier: Apache-2.0

// old IN OUT: a program of schema r1 in the middle. It says what a careful reader would do, and
// then does what a careless one does: change a field and seal again.
package main

import (
	"fmt"
	"log"
	"os"

	"google.golang.org/protobuf/proto"

	cofferdam "example/interop/cofferdam/v1"
	"example/interop/cofferdamstate"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if _, err := cofferdamstate.Read(data, nil); err != nil {
		fmt.Println("refused:", err)
	} else {
		fmt.Println("read")
	}
	state := &cofferdam.SessionState{}
	if err := proto.Unmarshal(data, state); err != nil {
		log.Fatal(err)
	}
	state.WorkspaceReady = !state.WorkspaceReady
	if data, err = cofferdamstate.Seal(state, nil, ""); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], data, 0o600); err != nil {
		log.Fatal(err)
	}
}
