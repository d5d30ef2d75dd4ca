package template

import "fmt"

// kvGet is the function of expressions and templates that reads a value of a key-value bucket.
func (e *Env) kvGet(args []any) (any, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("kvGet: want a bucket and a key, got %d values", len(args))
	}
	var text [2]string
	for i, what := range []string{"the name of a bucket", "a key"} {
		s, ok := args[i].(string)
		if !ok || s == "" {
			return nil, fmt.Errorf("kvGet: want %s, got %s", what, describe(args[i]))
		}
		text[i] = s
	}
	val, err := e.o.KVGet(text[0], text[1])
	if err != nil {
		return nil, fmt.Errorf("kvGet: %w", err)
	}
	return e.usage.countText(val)
}
