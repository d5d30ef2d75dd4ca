package data

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Encode writes plain data as a YAML document. Keys are sorted, and texts that YAML would read as
// another value are quoted.
func Encode(v any) (text string, err error) {
	defer func() { // the library panics on values that it cannot write
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	if err := enc.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}
