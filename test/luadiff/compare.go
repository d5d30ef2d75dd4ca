package luadiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// scriptName is the name of the program in positions of both engines.
const scriptName = "prog.lua"

// errInvalid means that Lua refuses a program, or that it reads an undefined global. Shrinking
// makes such programs.
var errInvalid = errors.New("invalid program")

// driver runs the programs 1.lua, 2.lua and so on in Lua, as many as its argument says. Behind the output of each is a
// line that begins with the byte 1, and goes on with what is wrong with the program. Undefined globals are errors
// that no pcall hides.
const driver = `for i = 1, tonumber(arg[1]) do
  local undefined
  setmetatable(_G, {__index = function(_, k) undefined = k end, __newindex = function(_, k) undefined = k end})
  local file = assert(io.open(i .. ".lua", "rb"))
  local f, wrong = loadstring(file:read("*a"), "@` + scriptName + `")
  file:close()
  if f then
    local ok = pcall(f)
    if not ok then print("ends with an error") end
    wrong = undefined and "undefined global " .. tostring(undefined) or ""
  end
  setmetatable(_G, nil)
  io.write("\1", wrong, "\n")
end
`

// A Lua runs programs in the reference interpreter.
type Lua struct{ program, dir string }

// NewLua prepares the directory dir for the interpreter program.
func NewLua(program, dir string) (*Lua, error) {
	return &Lua{program, dir}, os.WriteFile(filepath.Join(dir, "driver.lua"), []byte(driver), 0o644)
}

// A Result is what a program prints, or why it is not a valid program.
type Result struct {
	Output string
	Err    error
}

// Run runs programs in one process of Lua, one after the other, and returns their results.
func (l *Lua) Run(texts ...string) ([]Result, error) {
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(l.dir, fmt.Sprintf("%d.lua", i+1)), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program, "driver.lua", fmt.Sprint(len(texts)))
	cmd.Dir = l.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("lua5.1: %w: %s", err, stderr.String())
	}
	results := make([]Result, len(texts))
	rest := stdout.String()
	for i := range results {
		output, behind, _ := strings.Cut(rest, "\x01")
		wrong, next, ok := strings.Cut(behind, "\n")
		if !ok {
			return nil, fmt.Errorf("lua5.1: the output of program %d has no end", i+1)
		}
		results[i].Output, rest = output, next
		if wrong != "" {
			results[i].Err = fmt.Errorf("%w: %s", errInvalid, wrong)
		}
	}
	return results, nil
}

// RunCCM returns what a program prints as a script of ccm. If the script fails, the output has
// the line "ends with an error", and err is the error.
func RunCCM(text string) (string, error) {
	registry, err := resource.NewRegistry()
	if err != nil {
		return "", err
	}
	var print bytes.Buffer
	in := luaapi.New(luaapi.Options{Registry: registry, Builder: new(catalog.Builder), Print: &print})
	defer in.Close()
	err = in.Run(context.Background(), scriptName, text)
	if err != nil {
		print.WriteString("ends with an error\n")
	}
	return print.String(), err
}

// Compare returns how the outputs of each program differ, "" if they are the same. An error is one of Lua, or that a
// program is invalid.
func (l *Lua) Compare(programs ...Program) (differences []string, err error) {
	texts := make([]string, len(programs))
	for i, p := range programs {
		texts[i] = p.String()
	}
	results, err := l.Run(texts...)
	if err != nil {
		return nil, err
	}
	differences = make([]string, len(programs))
	for i, want := range results {
		if want.Err != nil {
			return nil, fmt.Errorf("program %d: %w", i+1, want.Err)
		}
		if got, failure := RunCCM(texts[i]); got != want.Output {
			differences[i] = firstDifference(got, want.Output, failure)
		}
	}
	return differences, nil
}

func firstDifference(got, want string, failure error) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g)-1 && i < len(w)-1 && g[i] == w[i] {
		i++
	}
	text := fmt.Sprintf("line %d of the output\n  ccm:     %s\n  lua5.1:  %s", i+1, g[i], w[i])
	if failure != nil {
		text += "\n  error:   " + failure.Error()
	}
	return text
}
