package template

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDotenv(t *testing.T) {
	env, err := Dotenv(".env", "# comment\n\nA=1\nexport B = two words # why\nC=\"a\\nb\"\nD='x # y'\nE=\nF=a=b\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"A": "1", "B": "two words", "C": "a\nb", "D": "x # y", "E": "", "F": "a=b"}, env)

	_, err = Dotenv(".env", "A\n  =x\nB=\"open\n")
	require.EqualError(t, err, ".env:1:1: want KEY=value, got \"A\"\n.env:2:3: want KEY=value, got \"=x\"\n.env:3:1: B: want a value in quotes, got \"open")
}

func TestEnviron(t *testing.T) {
	require.Equal(t, map[string]string{"A": "3", "B": "2=x"}, Environ([]string{"A=1", "B=2=x", "=C:"}, map[string]string{"A": "3"}))
}
