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

// driver runs the program in Lua, with undefined globals as errors that no pcall hides.
const driver = `local undefined
setmetatable(_G, {__index = function(_, k) undefined = k end, __newindex = function(_, k) undefined = k end})
local f, msg = loadfile("` + scriptName + `")
if not f then io.stderr:write(msg, "\n") os.exit(3) end
local ok, e = pcall(f)
if undefined then io.stderr:write("undefined global ", tostring(undefined), "\n") os.exit(3) end
if not ok then print("ends with an error") end
`

// A Lua runs programs in the reference interpreter.
type Lua struct{ program, dir string }

// NewLua prepares the directory dir for the interpreter program.
func NewLua(program, dir string) (*Lua, error) {
	return &Lua{program, dir}, os.WriteFile(filepath.Join(dir, "driver.lua"), []byte(driver), 0o644)
}

// Run returns what a program prints in Lua.
func (l *Lua) Run(text string) (string, error) {
	if err := os.WriteFile(filepath.Join(l.dir, scriptName), []byte(text), 0o644); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program, "driver.lua")
	cmd.Dir = l.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		return "", fmt.Errorf("%w: %s", errInvalid, strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		return "", fmt.Errorf("lua5.1: %w: %s", err, stderr.String())
	}
	return stdout.String(), nil
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

// Compare returns how the outputs of a program differ, "" if they are the same.
func (l *Lua) Compare(p Program) (string, error) {
	text := p.String()
	want, err := l.Run(text)
	if err != nil {
		return "", err
	}
	got, failure := RunCCM(text)
	if got == want {
		return "", nil
	}
	return firstDifference(got, want, failure), nil
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
