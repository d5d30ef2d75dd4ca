package overlay

import (
	"maps"
	"slices"
)

// Answers of commands about names are cached for the whole plan, because nothing changes the
// machine meanwhile. So one question about all packages of a site serves every resource.

// An answerKey is a question about one name.
type answerKey struct{ command, name string }

// AskMany returns the answers of a command about names, which must be distinct. Ask runs the
// command for some of the names; its answer has an entry for each name that the command knows. It
// is called once for each name. Errors are not cached.
func AskMany[T any](o *View, command string, names []string, ask func(names []string) (map[string]T, error)) (map[string]T, error) {
	known := make(map[string]T, len(names))
	var missing []string
	for _, name := range names {
		if x, ok := o.answers.Load(answerKey{command, name}); ok {
			known[name] = x.(T)
			o.RecordLook(CommandLook, command+" "+name, true)
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return known, nil
	}
	found, err := ask(slices.Clone(missing))
	if err != nil {
		return nil, err
	}
	for _, name := range missing {
		if x, ok := found[name]; ok {
			o.answers.Store(answerKey{command, name}, x)
		}
	}
	maps.Copy(found, known)
	return found, nil
}
