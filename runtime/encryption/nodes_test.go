package encryption_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/encryption"
)

// WithNodes replaces the section of the nodes, and keeps all other text.
func TestNodesAmongRecipients(t *testing.T) {
	byHand := "# people\nann age1ann\n"
	n := &encryption.Nodes{Groups: map[string][]string{"@tag:role=db": {"db2", "db1"}}}
	n.Add(encryption.NodeKey{Name: "web1", Text: "age1web1", Note: "prod SHA256:w"})
	n.Add(encryption.NodeKey{Name: "db2", Text: "age1db2", Note: "prod SHA256:2"})
	n.Add(encryption.NodeKey{Name: "db1", Text: "age1db1", Note: "prod SHA256:1"})
	n.Add(encryption.NodeKey{Name: "db1", Text: "age1db1", Note: "twice"})
	text, err := encryption.WithNodes("r", byHand, n)
	require.NoError(t, err)
	require.Equal(t, byHand+`# nodes of a fleet, by "ccm secret recipients nodes": changes made here by hand are lost
db1   age1db1 # prod SHA256:1
db2   age1db2 # prod SHA256:2
web1  age1web1 # prod SHA256:w
@tag:role=db db1 db2
# end of the nodes
`, text)

	text += "\n@admins ann\n"
	had, before, behind, err := encryption.SplitNodes("r", text)
	require.NoError(t, err)
	require.Equal(t, []string{byHand, "\n@admins ann\n"}, []string{before, behind})
	require.Equal(t, []string{"web1"}, had.Named())
	again, err := encryption.WithNodes("r", text, had)
	require.NoError(t, err)
	require.Equal(t, text, again)
	again, err = encryption.WithNodes("r", text, &encryption.Nodes{})
	require.NoError(t, err)
	require.Equal(t, byHand+"\n@admins ann\n", again)

	lines := strings.SplitAfter(text, "\n")
	for _, broken := range []string{
		strings.Join(lines[:4], ""),             // no end line
		strings.Join(lines[4:], ""),             // no begin line
		text + text,                             // two sections
		byHand + lines[2] + lines[2] + lines[7], // two begin lines
	} {
		_, err := encryption.WithNodes("r", broken, had)
		require.ErrorContains(t, err, "nodes of a fleet", broken)
	}
}

func TestGroupsOfNodes(t *testing.T) {
	_, key, err := encryption.NewIdentity("now")
	require.NoError(t, err)
	for group, ok := range map[string]bool{
		"@tag:role=db": true, "@env:prod": true, "@web": true, "@tag:role": false, "@tag:=x": false, "@tag:role=": false,
		"@tag:a=b,c": false, "@x:y": false, "@tag:a=b=c": false,
	} {
		_, err := encryption.ReadRecipients("r", "web1 "+key+"\n"+group+" web1\n")
		require.Equal(t, ok, err == nil, "%s: %v", group, err)
	}
}

func FuzzNodesAmongRecipients(f *testing.F) {
	f.Add("ann age1x\n# nodes of a fleet, by \"ccm secret recipients nodes\": changes made here by hand are lost\ndb1 age1y # prod\n@tag:role=db db1\n# end of the nodes\nbob age1z\n")
	f.Add("# end of the nodes\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, before, behind, err := encryption.SplitNodes("r", text)
		if err != nil {
			return
		}
		once, err := encryption.WithNodes("r", text, n)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(once, before) && strings.HasSuffix(once, behind))
		again, _, _, err := encryption.SplitNodes("r", once)
		require.NoError(t, err)
		require.Equal(t, len(n.Keys) == 0, again.Text() == "")
	})
}
