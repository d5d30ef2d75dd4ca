package resources_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
)

// TestPackagesAlong: a run reports the same further packages as the plan.
func TestPackagesAlong(t *testing.T) {
	require.Empty(t, resources.PackagesAlong(2, true, nil, nil))
	require.Equal(t, "with a, b", resources.PackagesAlong(1, false, []string{"b", "a"}, nil))
	require.Equal(t, "the 2 packages also change 4 others, removed x", resources.PackagesAlong(2, false, []string{"b", "a", "c", "d"}, []string{"x"}))
	require.Equal(t, "removed x, y too", resources.PackagesAlong(1, true, nil, []string{"y", "x"}))
	require.Equal(t, "the 3 packages also changed x", resources.PackagesAlong(3, true, nil, []string{"x"}))
}
