package enrol

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/encryption"
)

// An UnreadableSecret is an encrypted file or value that some of the nodes for which it is meant
// cannot decrypt.
type UnreadableSecret struct {
	Secret string   `json:"secret"` // the file, and the key of a value
	For    []string `json:"for"`    // the text that chooses nodes, as for ccm secret --to
	Nodes  []string `json:"nodes"`
}

// CannotRead returns the encrypted items that some of their nodes in an environment cannot decrypt:
// nodes that got a tag or an environment later, or a new key. An item's header names its nodes. A
// name in it that is not a group counts as a node if it is in named: other names may be people and
// hosts with keys of their own.
func CannotRead(items []encryption.Item, nodes []Node, environment string, named []string) (list []UnreadableSecret) {
	for _, item := range items {
		if item.Err != nil {
			continue // a run reports this
		}
		u := UnreadableSecret{Secret: item.String()}
		for _, text := range item.For {
			chosen, group := strings.CutPrefix(text, "@")
			if !group && !slices.Contains(named, text) {
				continue
			}
			members, err := Choose(nodes, chosen)
			if err != nil {
				continue // a group of people, or a node that is gone
			}
			left := len(u.Nodes)
			for _, n := range members {
				key := encryption.KeyDigest{Name: n.Name, Digest: encryption.Key{Text: n.Recipient}.Digest()}
				if n.Environment == environment && !slices.Contains(item.Keys, key) && !slices.Contains(u.Nodes, n.Name) {
					u.Nodes = append(u.Nodes, n.Name)
				}
			}
			if len(u.Nodes) > left {
				u.For = append(u.For, chosen)
			}
		}
		if len(u.Nodes) > 0 {
			slices.Sort(u.Nodes)
			list = append(list, u)
		}
	}
	return list
}
