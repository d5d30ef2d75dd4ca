package template

import (
	"fmt"
	"strings"
	"sync"

	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm"
)

const (
	maxPrograms = 1000 // that are kept
	maxVariants = 100
)

// knownNames is what copies of an Env share that know the same names: the configuration of the compiler, nil until
// needed, and programs by their text. Copies may be used by different goroutines.
type knownNames struct {
	mu       sync.Mutex
	config   *conf.Config
	programs map[string]*vm.Program
	variants map[string]*knownNames // of copies that know other names
}

// program returns the kept program of an expression, or nil.
func (k *knownNames) program(code string) *vm.Program {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.programs[code]
}

// compile compiles an expression with the given variables, and keeps the program.
func (k *knownNames) compile(code string, vars map[string]any) (*vm.Program, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.config == nil {
		k.config = newConfig(vars)
	}
	prog, err := compile(code, *k.config)
	if err != nil {
		return nil, err
	}
	if k.programs == nil || len(k.programs) >= maxPrograms {
		k.programs = make(map[string]*vm.Program)
	}
	k.programs[code] = prog
	return prog, nil
}

// variant returns the same for copies with a difference in names.
func (k *knownNames) variant(difference string) *knownNames {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.variants[difference]
	if !ok {
		if k.variants == nil || len(k.variants) >= maxVariants {
			k.variants = make(map[string]*knownNames)
		}
		v = new(knownNames)
		k.variants[difference] = v
	}
	return v
}

// signature names variables with the types of their values, which is all that the compiler knows of them.
func signature(vars map[string]any) string {
	var b strings.Builder
	for _, name := range sortedKeys(vars) {
		fmt.Fprintf(&b, "%q %T,", name, vars[name])
	}
	return b.String()
}
