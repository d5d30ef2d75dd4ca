package ssh

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An unknown host key and a changed one have different errors.
func TestHostKeyReasons(t *testing.T) {
	const failed = "Host key verification failed."
	for text, want := range map[string]string{
		failed: "Log in once by hand",
		"No ED25519 host key is known for web1 and you have requested strict checking.\r\n" + failed + "\r\n":                                    "Log in once by hand",
		"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nOffending ED25519 key in /root/.ssh/known_hosts:1\r\n" + failed + "\r\n": "the key differs from the one in known_hosts",
		"Host key is revoked.\n" + failed:      failed,
		"web1: Permission denied (publickey).": "web1: Permission denied (publickey).",
	} {
		s := new(tail)
		_, _ = s.Write([]byte(text))
		require.Contains(t, s.withHostKey(s.last()), want, text)
	}
}
