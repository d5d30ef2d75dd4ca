package record

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/luaccm/ccm/runtime/diag"
)

// DecodeState reads the state of a node. A state with the name of another node is an error: its key
// describes whose it is.
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
	if err := decode(text, maxFactsRead, &f); err != nil {
		return Facts{}, err
	}
	return f, check(f.Protocol, FactsProtocol, f.Node, node)
}

// DecodeSomeFacts is [DecodeFacts] for the facts with these names alone: decoding all facts of
// thousands of nodes takes longer than reading them.
func DecodeSomeFacts(node string, text []byte, names []string) (Facts, error) {
	if err := checkSize(text, maxFactsRead); err != nil {
		return Facts{}, err
	}
	if !gjson.ValidBytes(text) {
		return DecodeFacts(node, text) // for its error
	}
	paths := []string{"protocol", "node"}
	for _, name := range names {
		paths = append(paths, "facts."+gjson.Escape(name))
	}
	values := gjson.GetManyBytes(text, paths...)
	f := Facts{Protocol: values[0].Str, Node: values[1].Str, Facts: make(map[string]any, len(names))}
	if err := check(f.Protocol, FactsProtocol, f.Node, node); err != nil {
		return Facts{}, err
	}
	for i, value := range values[2:] {
		if !value.Exists() {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(value.Raw), &v); err != nil {
			return Facts{}, err
		}
		f.Facts[names[i]] = v
	}
	return f, nil
}

// DecodePresence reads a heartbeat.
func DecodePresence(text []byte) (Presence, error) {
	var p Presence
	if err := decode(text, MaxPresence, &p); err != nil {
		return Presence{}, err
	}
	return p, check(p.Protocol, PresenceProtocol, "", "")
}

// maxFactsRead is the most bytes of facts that are read, which is what a message may have.
const maxFactsRead = 256 << 10

func decode(text []byte, limit int, into any) error {
	if err := checkSize(text, limit); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func checkSize(text []byte, limit int) error {
	if len(text) > limit {
		return diag.Exceeds("document", "%d bytes, got %d", limit, len(text))
	}
	return nil
}

func check(protocol, want, node, wantNode string) error {
	if protocol != want {
		return diag.Expected("the protocol %s", want).Got("%q", cut(protocol, 60))
	}
	if node != wantNode {
		return diag.Expected("the node %s", wantNode).Got("%q", cut(node, 60))
	}
	return nil
}
