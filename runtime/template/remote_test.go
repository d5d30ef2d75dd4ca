package template_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/template"
)

// kvGet works in expressions and in Jet templates, and is undefined without a connection.
func TestKVGet(t *testing.T) {
	asked := ""
	env := template.New(template.Options{KVGet: func(bucket, key string) (string, error) {
		if asked = bucket + "/" + key; key == "none" {
			return "", errors.New("no key none")
		}
		return "value", nil
	}})
	val, err := env.Evaluate(`kvGet("B", "k") + "!"`)
	require.NoError(t, err)
	require.Equal(t, "value!", val)
	require.Equal(t, "B/k", asked)
	for code, want := range map[string]string{
		`kvGet("B", "none")`: "kvGet: no key none",
		`kvGet("B")`:         "kvGet: expected a bucket and a key, got 1 values",
		`kvGet("B", 1)`:      "kvGet: expected a key, got",
		`kvGet("", "k")`:     "kvGet: expected a bucket, got",
	} {
		_, err := env.Evaluate(code)
		require.ErrorContains(t, err, want, code)
	}
	_, err = template.New(template.Options{}).Evaluate(`kvGet("B", "k")`)
	require.ErrorContains(t, err, "kvGet")
}
