package examples

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestRolesUseTheirSettings: somebody who changes a setting of a role has it respected, so each is
// named in the script or in a template. What stands below a setting that is a table, such as the options
// of a daemon, is handed on as it is; the fields of a list of users, say, are settings too.
func TestRolesUseTheirSettings(t *testing.T) {
	roles, err := filepath.Glob("roles/*/site.yaml")
	require.NoError(t, err)
	require.Len(t, roles, 15)
	for _, path := range roles {
		var site struct {
			Data      map[string]any
			Overrides map[string]map[string]any
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &site))
		var code strings.Builder
		require.NoError(t, filepath.WalkDir(filepath.Dir(path), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "spec" {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || name == path || d.Name() == "plan.txt" {
				return err
			}
			text, err := os.ReadFile(name)
			code.Write(text)
			return err
		}))
		used := func(setting string) {
			require.Regexp(t, `\b`+regexp.QuoteMeta(setting)+`\b`, code.String(), "%s: nothing uses %s", path, setting)
		}
		for _, settings := range append(slices.Collect(maps.Values(site.Overrides)), site.Data) {
			for name, value := range settings {
				used(name)
				list, _ := value.([]any)
				for _, item := range list {
					fields, _ := item.(map[string]any)
					for field := range fields {
						used(field)
					}
				}
			}
		}
	}
}
