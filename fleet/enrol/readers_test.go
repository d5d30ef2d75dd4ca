package enrol

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/encryption"
)

// A secret is encrypted to the nodes of a role. One node got the role later, and another has a new key since.
func TestCannotRead(t *testing.T) {
	node := func(name, environment, recipient string, tags ...string) Node {
		return Node{NodeIdentity: identity.NodeIdentity{Name: name, Environment: environment, Recipient: recipient, Tags: tags}}
	}
	gone := node("db5", "prod", "age1five", "role=db")
	gone.Revoked = true
	nodes := []Node{
		node("db1", "prod", "age1one", "role=db"), node("db2", "prod", "age1two", "role=db"), node("db3", "prod", "age1three", "role=db"),
		node("db4", "test", "age1four", "role=db"), gone, node("web1", "prod", "age1web"),
	}
	key := func(name, text string) encryption.KeyDigest {
		return encryption.KeyDigest{Name: name, Digest: encryption.Key{Text: text}.Digest()}
	}
	item := func(file string, to []string, keys ...encryption.KeyDigest) encryption.Item {
		return encryption.Item{File: file, Description: &encryption.Description{For: to, Keys: keys}}
	}
	items := []encryption.Item{
		item("db.age", []string{"ann", "@tag:role=db"}, key("ann", "age1ann"), key("db1", "age1one"), key("db2", "age1older")),
		item("all.age", []string{"@env:prod"}, key("db1", "age1one"), key("db2", "age1two"), key("db3", "age1three"), key("web1", "age1web")),
		item("web.age", []string{"web1"}, key("web1", "age1older")),
		item("host.age", []string{"db1"}, key("db1", "ssh-ed25519 AAAA")),
		item("people.age", []string{"@admins", "@all"}, key("ann", "age1ann")),
		{File: "damaged.age", Err: errors.New("damaged")},
	}
	items[2].Key = "password"
	require.Equal(t, []UnreadableSecret{
		{Secret: "db.age", For: []string{"tag:role=db"}, Nodes: []string{"db2", "db3"}},
		{Secret: items[2].String(), For: []string{"web1"}, Nodes: []string{"web1"}},
	}, CannotRead(items, nodes, "prod", []string{"web1"}))
	require.Equal(t, []UnreadableSecret{{Secret: "db.age", For: []string{"tag:role=db"}, Nodes: []string{"db4"}}}, CannotRead(items, nodes, "test", nil))
}
