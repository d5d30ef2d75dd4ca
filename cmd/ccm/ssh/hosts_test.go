package ssh

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/inventory"
)

// The variables that make ccm run as root on a host are read as in Ansible. A value that cannot be evaluated is an
// error, because ccm would run as another user.
func TestBecomeOfInventory(t *testing.T) {
	for value, want := range map[string][]string{
		"true": {"sudo", "-n"}, "True": {"sudo", "-n"}, "'True'": {"sudo", "-n"}, "yes": {"sudo", "-n"}, "'YES'": {"sudo", "-n"}, "1": {"sudo", "-n"}, "'on'": {"sudo", "-n"}, "y": {"sudo", "-n"},
		"false": nil, "no": nil, "'False'": nil, "0": nil, "'off'": nil, "''": nil,
	} {
		for name, text := range map[string]string{"h.yml": "all: {hosts: {h: {ansible_become: " + value + "}}}", "h.ini": "h ansible_become=" + value + "\n"} {
			file := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			inv, err := inventory.Read(t.Context(), []string{file}, func(string, bool) error { return nil })
			require.NoError(t, err)
			list, err := inv.Select(nil)
			require.NoError(t, err)
			h, err := inventoryHost(&list[0], nil)
			require.NoError(t, err, text)
			require.Equal(t, want, h.Become, text)
		}
	}
	file := filepath.Join(t.TempDir(), "h")
	require.NoError(t, os.WriteFile(file, []byte("h ansible_become=ture\n"), 0o600))
	inv, err := inventory.Read(t.Context(), []string{file}, func(string, bool) error { return nil })
	require.NoError(t, err)
	list, err := inv.Select(nil)
	require.NoError(t, err)
	_, err = inventoryHost(&list[0], nil)
	require.EqualError(t, err, `host h of the inventory: ansible_become: expected true or false, got "ture"`)
}
