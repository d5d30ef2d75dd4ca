package lazyregexp_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

func TestNew(t *testing.T) {
	digits := lazyregexp.New(`^[0-9]+$`)
	require.True(t, digits().MatchString("12"))
	require.Same(t, digits(), digits())
	broken := lazyregexp.New(`(`) // nothing is compiled yet
	require.Panics(t, func() { broken() })
}

// TestNothingIsCompiledAtStart: a variable of a package that holds a regular expression
// makes every start of ccm slower.
func TestNothingIsCompiledAtStart(t *testing.T) {
	compiled := regexp.MustCompile(`(?m)^(var |\t)\w+ += regexp\.MustCompile.*`)
	files := 0
	require.NoError(t, filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "../../test/") {
			return err
		}
		files++
		text, err := os.ReadFile(name)
		for _, line := range compiled.FindAllString(string(text), -1) {
			t.Errorf("%s: %s: use lazyregexp.New", name, line)
		}
		return err
	}))
	require.Greater(t, files, 100)
}
