package std_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// One call that takes minutes in a package that knows of no context ends with the time of the
// evaluation, also inside of pcall. What is given up takes a
// core until this process ends, so there are few of them.
func TestCallsEnd(t *testing.T) {
	for name, script := range map[string]string{
		"test":    `re.test(text, "(a?){1000}b")`,
		"replace": `re.replace(text, "(a?){1000}b", "")`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			reg, err := resource.NewRegistry()
			require.NoError(t, err)
			in := luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder), Facts: l.facts, Print: t.Output(), Timeout: 20 * time.Millisecond, Extend: l.Extend})
			defer in.Close()
			start := time.Now()
			err = in.Run(context.Background(), filepath.Join(l.site, "site.lua"), []byte("local text = ('a'):rep(2 ^ 22)\npcall(function() return "+script+" end)\nerror 'it went on'"))
			require.Less(t, time.Since(start), 10*time.Second) // of minutes
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}
