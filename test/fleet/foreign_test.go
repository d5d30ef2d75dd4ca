package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/subject"
)

// Nodes that were signed by a key which fleet.json does not name are shown: somebody with an old fleet.json sees
// that nodes are missing, and where to get the new file.
func TestNodesNotInFleetAreShown(t *testing.T) {
	l := sharedLab(t)
	l.addNode(t, unique("web"), "prod")
	sequence := l.forge(t, "prod", "role", "db")
	defer func() {
		d := l.desk(t)
		deleteMessage(t, l.stream(t, d, subject.Answers), sequence)
		waitFor(t, "it to be gone", func() error {
			if _, foreign, err := d.Nodes(t.Context()); err != nil || len(foreign) > 0 {
				return errors.Join(err, errors.New("it is there"))
			}
			return nil
		})
	}()
	want := "Signed by a key that is not in fleet.json: 1 node: forged\n  after ccm fleet rekey, copy the new fleet.json from users/NAME"
	stderr := ""
	waitFor(t, "it to be seen", func() error {
		if _, stderr, _ = l.ccm("fleet", "nodes"); !strings.Contains(stderr, want) {
			return errors.New(stderr)
		}
		return nil
	})
	require.Contains(t, l.must(t, "fleet", "status"), want)
	stdout, _, status := l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, want)
	stdout = l.must(t, "fleet", "nodes", "--output", "json")
	require.Contains(t, stdout, `"status":"not_in_fleet"`)
	for line := range strings.Lines(stdout) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.NotContains(t, l.must(t, "fleet", "nodes", "--output", "names"), "forged", "no job reaches it")
	_, stderr, _ = l.ccm("fleet", "nodes", "--environment", "test")
	require.NotContains(t, stderr, "forged")
}

// checkSays waits until ccm fleet check prints a text.
func (l *lab) checkSays(t *testing.T, want string) {
	t.Helper()
	waitFor(t, "ccm fleet check to say "+want, func() error {
		stdout, stderr, status := l.ccm("fleet", "check")
		if status != 4 || !strings.Contains(stdout, want) {
			return fmt.Errorf("status %d: %s%s", status, stdout, stderr)
		}
		return nil
	})
}
