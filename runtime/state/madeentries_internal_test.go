package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/safepath"
)

// What a run made stays known through changes of runs, and is no longer known once something else has
// changed it.
func TestMadeEntryAfter(t *testing.T) {
	at := func(seconds int64) Version {
		return Version{Kind: safepath.Regular, Size: 3, MTime: time.Unix(seconds, 0)}
	}
	none := Version{}
	for name, x := range map[string]struct {
		by            string
		before, after Version
		known         bool // whether there is still an entry
		is            bool // whether what is there now is like it
	}{
		"edited by another resource":                  {"line#x", at(1), at(2), true, true},
		"edited by another resource after a stranger": {"line#x", at(5), at(6), true, false},
		"replaced by its resource after a stranger":   {"directory#/d", at(5), at(6), true, true},
		"removed":                         {"directory#/d", at(1), none, true, false},
		"removed after a stranger":        {"directory#/d", at(5), none, false, false},
		"restored":                        {"directory#/d", none, at(9), true, true},
		"replaced by something else":      {"line#x", Version{Kind: safepath.Directory}, at(2), true, false},
		"made a link by another resource": {"link#/d/f", at(1), Version{Kind: safepath.Symlink, Size: 1}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newMadeEntry("/d/f", "directory#/d", at(1))
			e, known := e.after(&Change{Path: "/d/f", Resource: Name(x.by), Before: x.before, After: &x.after})
			require.Equal(t, x.known, known)
			if known {
				require.Equal(t, x.is, e.is(safepath.Info{Kind: x.after.Kind, Size: x.after.Size, MTime: x.after.MTime}))
			}
		})
	}
}

// Inside of the tree of a resource is what is neither its own path nor above it.
func TestIsMadeInside(t *testing.T) {
	there := &Version{Kind: safepath.Regular}
	for name, x := range map[string]struct {
		c    Change
		want bool
	}{
		"below":              {Change{Path: "/d/f", Resource: "directory#/d", After: there}, true},
		"beside":             {Change{Path: "/opt/app/f", Resource: "archive#/opt/app.tar.gz", After: there}, true},
		"the target":         {Change{Path: "/opt/app", Resource: "archive#/opt/app.tar.gz", After: there}, true},
		"without a path":     {Change{Path: "/etc/x", Resource: "unit#x", After: there}, true},
		"itself":             {Change{Path: "/d", Resource: "directory#/d", After: there}, false},
		"above":              {Change{Path: "/srv", Resource: "directory#/srv/d", After: there}, false},
		"replaced":           {Change{Path: "/d/f", Resource: "directory#/d", Before: *there, After: there}, false},
		"not made":           {Change{Path: "/d/f", Resource: "directory#/d", After: new(Version)}, false},
		"of no resource":     {Change{Path: "/d/f", After: there}, false},
		"nobody knows after": {Change{Path: "/d/f", Resource: "directory#/d"}, false},
	} {
		require.Equal(t, x.want, x.c.isMadeInside(), name)
	}
}
