package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegistrations: results are tables, and mistakes are at the position of the call.
func TestRegistrations(t *testing.T) {
	l := newLab(t)
	for code, want := range map[string]string{
		`#registrations { service = "none" }`: `0`,
		`#registrations()`:                    `2`,
		`registrations { address = "host", protocol = "http" }[2].address`:          `"host"`,
		`registrations { address = "host", protocol = "http" }[2].port`:             `nil`,
		`registrations { address = "host", protocol = "http" }[2].annotations.none`: `nil`,
		`registrations()[1].ttl`:           `"1m0s"`,
		`registrations()[1].port + 1`:      `81`,
		`registrations()[1].annotations.v`: `"1"`,
		`json.encode(registrations()[2])`:  `'{"address":"*","annotations":{},"cluster":"c","priority":2,"protocol":"*","service":"web"}'`,
	} {
		out, err := l.run(t, "print(inspect("+code+"))")
		require.NoError(t, err, code)
		require.Equal(t, want, out, code)
	}
	for code, want := range map[string]string{
		`registrations { clustr = "x" }`:     `registrations: unknown option "clustr" (did you mean "cluster"?)`,
		`registrations { cluster = "lost" }`: `registrations: no server answered`,
		`registrations { cluster = 1 }`:      `registrations: `,
	} {
		_, err := l.run(t, code)
		require.ErrorContains(t, err, want, code)
	}
}
