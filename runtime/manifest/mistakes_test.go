package manifest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// badCase is a manifest with mistakes and its messages.
type badCase struct {
	name, text, want string
	schema           string // accepts, rejects, or unreadable
}

// badManifests reads testdata/bad.txtar: each manifest is followed by its messages. Its name describes the mistake,
// and whether the JSON Schema finds it.
func badManifests(t *testing.T) (cases []badCase) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/bad.txtar")
	require.NoError(t, err)
	require.Zero(t, len(a.Files)%2)
	for i := 0; i < len(a.Files); i += 2 {
		name, schema, _ := strings.Cut(a.Files[i].Name, " | ")
		require.Equal(t, "messages", a.Files[i+1].Name, name)
		cases = append(cases, badCase{name, string(a.Files[i].Data), string(a.Files[i+1].Data), schema})
	}
	return cases
}

// TestBadManifests holds every message to its exact place. With UPDATE=1 it
// writes the messages instead.
func TestBadManifests(t *testing.T) {
	cases := badManifests(t)
	require.Greater(t, len(cases), 60)
	var updated txtar.Archive
	for _, tt := range cases {
		w := newWorld(t, nil)
		_, err := w.load(t, "m.yaml", tt.text)
		require.Error(t, err, tt.name)
		got := err.Error() + "\n"
		updated.Files = append(updated.Files,
			txtar.File{Name: tt.name + " | " + tt.schema, Data: []byte(tt.text)}, txtar.File{Name: "messages", Data: []byte(got)})
		if os.Getenv("UPDATE") == "" {
			require.Equal(t, tt.want, got, tt.name)
		}
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile("testdata/bad.txtar", txtar.Format(&updated), 0o644))
	}
}

// goodManifests reads testdata/good.txtar.
func goodManifests(t *testing.T) (texts []string) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/good.txtar")
	require.NoError(t, err)
	for _, f := range a.Files {
		texts = append(texts, string(f.Data))
	}
	require.NotEmpty(t, texts)
	return texts
}

func TestGoodManifests(t *testing.T) {
	for _, text := range goodManifests(t) {
		w := newWorld(t, nil)
		_, err := w.load(t, "m.yaml", text)
		require.NoError(t, err, text)
	}
}
