//go:build linux

package collector

import (
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// codeAround finds the mapping around an address, and only one that cannot be written.
func TestCodeAround(t *testing.T) {
	const maps = `00400000-01527000 r-xp 00000000 fe:01 42 /usr/bin/ccm
01527000-02718000 r--p 01127000 fe:01 42 /usr/bin/ccm
02718000-028c1000 rw-p 02318000 fe:01 42 /usr/bin/ccm
03000000-03001000 rwxp 00000000 fe:01 42 /usr/bin/ccm
04000000-04001000 r-xp 00000000 00:00 0
nonsense
`
	for address, want := range map[uint64][2]uint64{
		0x400000: {0x400000, 0x1527000}, 0x1526fff: {0x400000, 0x1527000},
		0x1527000: {}, 0x2718000: {}, 0x3000000: {}, 0x4000000: {}, 0: {},
	} {
		begin, end := codeAround(address, maps)
		require.Equal(t, want, [2]uint64{begin, end}, "%x", address)
	}
	own, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	here := uint64(reflect.ValueOf(releaseProgram).Pointer())
	begin, end := codeAround(here, string(own))
	require.Less(t, begin, end)
	releaseProgram() // the code still runs
}
