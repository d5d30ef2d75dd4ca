package template

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nikolalohinski/gonja/v2"
	controls "github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
)

// Limits of Jinja templates.
const (
	maxReads  = 1000    // of templates that templates include
	maxMacros = 200     // calls of macros inside one another
	maxRange  = 100_000 // numbers that range gives
)

// A bounded takes as much as a template may write.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// WriteString implements io.StringWriter.
func (b *bounded) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// boundedJinja returns what templates see, for one template: its macros and loops
// come to an end.
func boundedJinja() *exec.Environment {
	env := *gonja.DefaultEnvironment
	macro, _ := env.ControlStructures.Get("macro")
	depth := new(int)
	env.ControlStructures = exec.NewControlStructureSet(map[string]parser.ControlStructureParser{}).Update(env.ControlStructures)
	_ = env.ControlStructures.Replace("macro", func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		n, err := macro(p, args)
		if m, ok := n.(*controls.MacroControlStructure); ok && err == nil {
			return &boundedMacro{m, depth}, nil
		}
		return n, err
	})
	count := env.Context
	env.Context = exec.EmptyContext().Update(count)
	if f, ok := count.Get("range"); ok {
		all, _ := f.(func(*exec.Evaluator, *exec.VarArgs) (<-chan int, error))
		env.Context.Set("range", func(e *exec.Evaluator, params *exec.VarArgs) (<-chan int, error) {
			if err := checkRange(params.Args); err != nil {
				return nil, exec.ErrInvalidCall(err)
			}
			return all(e, params)
		})
	}
	return &env
}

// checkRange returns an error if range would give too many numbers.
func checkRange(args []*exec.Value) error {
	var n []int
	for _, a := range args {
		if !a.IsInteger() {
			return nil // range refuses it
		}
		n = append(n, a.Integer())
	}
	start, stop, step := 0, 0, 1
	switch len(n) {
	case 1:
		stop = n[0]
	case 2:
		start, stop = n[0], n[1]
	case 3:
		start, stop, step = n[0], n[1], n[2]
	}
	if step == 0 {
		return errors.New("step cannot be 0")
	}
	if items := (float64(stop) - float64(start)) / float64(step); items > maxRange {
		return fmt.Errorf("range of more than %d numbers, which is the limit", maxRange)
	}
	return nil
}

// A boundedMacro is a macro that cannot call itself without end.
type boundedMacro struct {
	*controls.MacroControlStructure
	depth *int
}

// Execute implements exec.ControlStructure.
func (m *boundedMacro) Execute(r *exec.Renderer, tag *nodes.ControlStructureBlock) error {
	if err := m.MacroControlStructure.Execute(r, tag); err != nil {
		return err
	}
	f, _ := r.Environment.Context.Get(m.Name)
	call, ok := f.(exec.Macro)
	if !ok {
		return nil
	}
	r.Environment.Context.Set(m.Name, exec.Macro(func(params *exec.VarArgs) *exec.Value {
		if *m.depth >= maxMacros {
			return exec.AsValue(fmt.Errorf("macros call one another more than %d deep: does %s call itself?", maxMacros, m.Name))
		}
		*m.depth++
		defer func() { *m.depth-- }()
		return call(params)
	}))
	return nil
}
