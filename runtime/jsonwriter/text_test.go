package jsonwriter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any byte in any position of a text is written as by encoding/json.
func TestAppendText(t *testing.T) {
	for _, length := range []int{0, 1, 7, 8, 9, 16, 23} {
		for at := range max(length, 1) {
			for c := range 256 {
				text := []byte(strings.Repeat("x", length))
				if length > 0 {
					text[at] = byte(c)
				}
				var want bytes.Buffer
				enc := json.NewEncoder(&want)
				enc.SetEscapeHTML(false)
				require.NoError(t, enc.Encode(string(text)))
				require.Equal(t, "before"+strings.TrimSuffix(want.String(), "\n"), string(AppendText([]byte("before"), string(text))), fmt.Sprintf("%q", text))
			}
		}
	}
}
