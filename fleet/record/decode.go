package record

import (
	"encoding/json"
	"fmt"
)

// DecodeState reads the state of a node. A state with the name of another node is an error: its key
// says whose it is.
func DecodeState(node string, text []byte) (State, error) {
	var s State
	if err := decode(text, MaxState, &s); err != nil {
		return State{}, err
	}
	return s, check(s.Protocol, StateProtocol, s.Node, node)
}

// DecodeFacts reads the facts of a node.
func DecodeFacts(node string, text []byte) (Facts, error) {
	var f Facts
	if err := decode(text, 256<<10, &f); err != nil {
		return Facts{}, err
	}
	return f, check(f.Protocol, FactsProtocol, f.Node, node)
}

// DecodePresence reads a heartbeat.
func DecodePresence(text []byte) (Presence, error) {
	var p Presence
	if err := decode(text, MaxPresence, &p); err != nil {
		return Presence{}, err
	}
	return p, check(p.Protocol, PresenceProtocol, "", "")
}

func decode(text []byte, limit int, into any) error {
	if len(text) > limit {
		return fmt.Errorf("it has %d bytes, and at most %d are read", len(text), limit)
	}
	return json.Unmarshal(text, into)
}

func check(protocol, want, node, wantNode string) error {
	if protocol != want {
		return fmt.Errorf("want the protocol %s, got %q", want, cut(protocol, 60))
	}
	if node != wantNode {
		return fmt.Errorf("it says that it is of the node %q", cut(node, 60))
	}
	return nil
}
