package recovery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// TestIsolatedResourcesShareNothing: resources that are refreshed after an undo refer to copies, and resources of the
// site that share a Common with them keep their references.
func TestIsolatedResourcesShareNothing(t *testing.T) {
	first, second := resource.ID{Type: "exec", Name: "first"}, resource.ID{Type: "exec", Name: "second"}
	c := &catalog.Catalog{
		Resources: []*resource.Resource{{ID: first, Common: resource.EmptyCommon}, {ID: second, Common: resource.EmptyCommon}},
		Deps:      [][]catalog.Dep{nil, {{Index: 0, Refresh: true}}},
	}
	one := isolated(c.Resources[1], c, 1, map[resource.ID]bool{first: true, second: true})
	require.Equal(t, []resource.Reference{resource.Reference(first)}, one.Common.Subscribe)
	require.Empty(t, resource.EmptyCommon.Subscribe)
}
