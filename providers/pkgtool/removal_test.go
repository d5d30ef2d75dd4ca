package pkgtool

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConflicts: of packages that cannot be installed together, the later ones fail.
func TestConflicts(t *testing.T) {
	for name, c := range map[string]struct {
		alone  []int    // those that cannot be installed at all
		rivals [][2]int // those that cannot be installed together
		fail   []int
	}{
		"none":         {nil, nil, nil},
		"one":          {[]int{2}, nil, []int{2}},
		"two rivals":   {nil, [][2]int{{0, 3}}, []int{3}},
		"one of three": {nil, [][2]int{{0, 1}, {1, 2}}, []int{1}},
		"all":          {nil, [][2]int{{0, 1}, {0, 2}, {0, 3}}, []int{1, 2, 3}},
		"both kinds":   {[]int{0}, [][2]int{{0, 1}, {2, 3}}, []int{0, 3}},
	} {
		var fail []int
		for i, err := range Conflicts(4, func(at ...int) error {
			for _, r := range c.rivals {
				if slices.Contains(at, r[0]) && slices.Contains(at, r[1]) {
					return errors.New("rivals")
				}
			}
			if slices.ContainsFunc(at, func(i int) bool { return slices.Contains(c.alone, i) }) {
				return errors.New("alone")
			}
			return nil
		}) {
			if err != nil {
				fail = append(fail, i)
			}
		}
		require.Equal(t, c.fail, fail, name)
	}
}
