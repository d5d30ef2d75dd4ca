package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://ccm.example.net":      "https://ccm.example.net",
		"https://ccm.example.net/":     "https://ccm.example.net",
		"https://CCM.example.net:443":  "https://ccm.example.net",
		"http://ccm.example.net:80":    "http://ccm.example.net",
		"https://ccm.example.net:8443": "https://ccm.example.net:8443",
		"https://[2001:db8::1]:8443":   "https://[2001:db8::1]:8443",
	} {
		have, err := ParseOrigin(text)
		require.NoError(t, err, text)
		require.Equal(t, want, have)
	}
	for _, text := range []string{
		"", "ccm.example.net", "https://", "https://:8443", "ftp://ccm.example.net", "https:ccm.example.net", "https://ccm.example.net/ccm", "https://me@ccm.example.net",
		"https://ccm.example.net?a", "https://ccm.example.net/?", "https://ccm.example.net#a", "https://ccm.example.net:x",
	} {
		_, err := ParseOrigin(text)
		require.ErrorContains(t, err, "expected https://NAME", text)
	}
}
