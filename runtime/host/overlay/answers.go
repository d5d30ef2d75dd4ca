package overlay

import (
	"maps"
	"slices"
)

// Answers are what a command has said of many names, by the command and the name. While a
// plan goes on nothing changes the machine, so that it says the same of each name whenever
// it is asked: one question about all packages of a site does for every one of them.

// An answerKey is a question about one name.
type answerKey struct{ command, name string }

// AskMany returns what a command says of each of the names, in which no name stands twice. Ask
// puts the question about some of them; its answer has an entry for each that the command
// answered for. It is called only for names that it was not called for before. An error is
// not remembered.
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
