package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/atomicfile"
)

// TestReplace: whichever effect fails, the old or the new file is there, and nothing else.
func TestReplace(t *testing.T) {
	for _, o := range []atomicfile.Options{{}, {Durable: true}, {Shared: true}, {New: true}} {
		for failing := 0; ; failing++ {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			require.NoError(t, err)
			old := ""
			if !o.New {
				old = "old"
				require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(old), 0o600))
			}
			var ops []string
			o.Effect = func(op, _ string, effect func() error) error {
				if ops = append(ops, op); len(ops) == failing+1 {
					return errors.New("refused")
				}
				return effect()
			}
			err = atomicfile.Replace(root, "f", o, atomicfile.Text([]byte("new")))
			text, _ := os.ReadFile(filepath.Join(dir, "f"))
			if len(ops) <= failing { // none failed
				require.NoError(t, err)
				require.Equal(t, "new", string(text))
				require.NoError(t, root.Close())
				break
			}
			require.EqualError(t, err, "refused", ops)
			require.Equal(t, map[bool]string{true: "new", false: old}[ops[failing] == "syncdir"], string(text))
			names, err := filepath.Glob(filepath.Join(dir, ".*"))
			require.NoError(t, err)
			require.Empty(t, names)
			require.NoError(t, root.Close())
		}
	}
}

func TestNewExists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("theirs"), 0o600))
	err := atomicfile.Write(file, atomicfile.Options{New: true}, atomicfile.Text([]byte("mine")))
	require.ErrorIs(t, err, fs.ErrExist)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
}

// TestName: the name of a file may depend on its content.
func TestName(t *testing.T) {
	dir := t.TempDir()
	length := 0
	o := atomicfile.Options{Durable: true, Shared: true, Name: func() string { return strings.Repeat("x", length) }}
	err := atomicfile.Write(filepath.Join(dir, "f"), o, func(f *os.File) (err error) {
		require.Equal(t, dir, filepath.Dir(f.Name()))
		length, err = f.WriteString("four")
		return err
	})
	require.NoError(t, err)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.Equal(t, "xxxx", names[0].Name())
}

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	err := atomicfile.Write(file, atomicfile.Options{Check: func() error { return errors.New("changed meanwhile") }}, atomicfile.Text([]byte("mine")))
	require.EqualError(t, err, "changed meanwhile")
	require.NoFileExists(t, file)
}

// TestWritePath: an error names the whole path.
func TestWritePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing", "f")
	err := atomicfile.Write(file, atomicfile.Options{}, atomicfile.Text(nil))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, filepath.Dir(file))
	require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(file), ".new-f"), 0o700))
	require.ErrorContains(t, atomicfile.Write(file, atomicfile.Options{}, atomicfile.Text(nil)), filepath.Dir(file)+"/.new-f")
}

// TestShared: with several writers at once the file is always one of theirs, also if its name is as long as names can be.
func TestShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), strings.Repeat("f", 255))
	var wait sync.WaitGroup
	for _, text := range []string{"a", "b", "c"} {
		wait.Go(func() {
			for range 20 {
				if err := atomicfile.Write(file, atomicfile.Options{Shared: true}, atomicfile.Text([]byte(strings.Repeat(text, 9)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(string(text[0]), 9), string(text))
	names, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, names, 1)
}
