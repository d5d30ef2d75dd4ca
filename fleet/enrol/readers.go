package enrol

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/encryption"
)

// An UnreadableSecret is something encrypted for nodes of which some cannot read it.
type UnreadableSecret struct {
	Secret string   `json:"secret"` // the file, and the key of a value
	For    []string `json:"for"`    // how the nodes are chosen, as ccm secret --to takes it
	Nodes  []string `json:"nodes"`
}

// CannotRead returns what is encrypted for nodes of an environment that cannot read it: they came to a tag or an
// environment later, or have another key than then. For whom something is says its header. Names in it that
// are no groups count if they are among named: others may be people and hosts with keys of their own.
func CannotRead(items []encryption.Item, nodes []Node, environment string, named []string) (list []UnreadableSecret) {
	for _, item := range items {
		if item.Err != nil {
			continue // a run says it
		}
		u := UnreadableSecret{Secret: item.String()}
		for _, text := range item.For {
			chosen, group := strings.CutPrefix(text, "@")
			if !group && !slices.Contains(named, text) {
				continue
			}
			members, err := Choose(nodes, chosen)
			if err != nil {
				continue // a group of people, or there is no node any more
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
