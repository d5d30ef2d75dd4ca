package ssh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A program is read again only if it has changed. The file of digests is ignored if another user could have written
// it.
func TestDigests(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	program := filepath.Join(t.TempDir(), "ccm")
	remembered := strings.Repeat("a", 64) // a false digest, which shows whether the file was read
	later := time.Now().Add(time.Minute)
	digest := func(at time.Time) string {
		t.Helper()
		d := readDigests(dir)
		sum, err := d.of(program, at)
		require.NoError(t, err)
		d.save()
		return sum
	}
	write := func(text string) {
		require.NoError(t, os.WriteFile(program, []byte(text), 0o700))
	}
	write("one")
	require.Equal(t, sha256sum.Text("one"), digest(time.Now()))
	require.NoFileExists(t, dir+"/programs.json", "it may change again, and its times not")
	require.Equal(t, sha256sum.Text("one"), digest(later))
	text, err := os.ReadFile(dir + "/programs.json")
	require.NoError(t, err)
	forged := []byte(strings.Replace(string(text), sha256sum.Text("one"), remembered, 1))
	require.NoError(t, os.WriteFile(dir+"/programs.json", forged, 0o600))
	require.Equal(t, remembered, digest(later))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(dir+"/programs.json", 0o666))
		require.Equal(t, sha256sum.Text("one"), digest(later))
		require.NoError(t, os.Chmod(dir+"/programs.json", 0o600))
	}
	write("two, and longer")
	require.Equal(t, sha256sum.Text("two, and longer"), digest(later))
	for _, damaged := range []string{"", "null", "[", `{"` + program + `":{"sha256":"short"}}`, strings.Replace(string(text), sha256sum.Text("two, and longer"), strings.Repeat("$(x)", 16), 1)} {
		require.NoError(t, os.WriteFile(dir+"/programs.json", []byte(damaged), 0o600))
		require.Equal(t, sha256sum.Text("two, and longer"), digest(later), damaged)
	}
	d := readDigests("")
	_, err = d.of(program+"x", later)
	require.True(t, os.IsNotExist(err), err)
}

// The program is sent with the content whose digest was computed, or not at all.
func TestProgramContent(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ccm-linux-arm64")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o700))
	programs := &Programs{Folders: []string{dir}}
	unames, sums := programs.available()
	require.Equal(t, []string{"Linux aarch64", "Linux arm64"}, unames)
	require.Equal(t, sha256sum.Text("one"), sums["Linux arm64"])
	packed, err := programs.forHost("Linux arm64", true)
	require.NoError(t, err)
	part, err := packed.from(0)
	require.NoError(t, err)
	require.Equal(t, "\x1f\x8b", string(part[:2]))
	end, err := packed.from(len(part))
	require.NoError(t, err)
	require.Empty(t, end)
	require.NoError(t, os.WriteFile(file, []byte("two"), 0o700))
	plain, err := programs.forHost("Linux aarch64", false)
	require.NoError(t, err)
	_, err = plain.from(0)
	require.EqualError(t, err, file+" was changed meanwhile")
	_, err = programs.forHost("Plan9 x", false)
	require.EqualError(t, err, "ccm cannot run on the system Plan9 x")
	_, err = programs.forHost("Linux riscv64", false)
	require.ErrorContains(t, err, "expected the file ccm-linux-riscv64 in one of "+dir)
}
