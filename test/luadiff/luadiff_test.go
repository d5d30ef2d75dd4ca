package luadiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGeneratorIsDeterministic: a seed is a program, and the same one each time.
func TestGeneratorIsDeterministic(t *testing.T) {
	for seed := range uint64(16) {
		require.Equal(t, Generate(seed).String(), Generate(seed).String())
		require.NotEqual(t, Generate(seed).String(), Generate(seed+1).String())
	}
}

// TestShrink: what is left is the statement that differs, and what is around it.
func TestShrink(t *testing.T) {
	p := Generate(3)
	p = append(p[:4:4], append(Program{{Head: "do", Body: []*Stmt{line("print(1)"), line("culprit()")}, End: "end"}}, p[4:]...)...)
	small := Shrink(p, func(p Program) bool { return strings.Contains(p.String(), "culprit()") })
	require.Equal(t, prelude+"culprit()\n", small.String())
}

// The output of a program in testdata is its last comment.
const outputMark = "--[[out\n"

// corpus returns the programs of testdata, and what each prints, by the name of its file.
func corpus(t *testing.T) (programs, outputs map[string]string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	programs, outputs = map[string]string{}, map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		program, output, ok := strings.Cut(string(text), outputMark)
		require.True(t, ok, file)
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		programs[name], outputs[name] = program, strings.TrimSuffix(output, "]]\n")
	}
	return programs, outputs
}

// TestCorpus: ccm prints what lua5.1 does for programs that differed once.
func TestCorpus(t *testing.T) {
	programs, outputs := corpus(t)
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			got, err := RunCCM(program)
			require.NoError(t, err)
			require.Equal(t, outputs[name], got)
		})
	}
}

// TestCorpusInLua: the outputs of testdata are those of lua5.1.
func TestCorpusInLua(t *testing.T) {
	lua := newLua(t)
	programs, outputs := corpus(t)
	for name, program := range programs {
		results, err := lua.Run(program)
		require.NoError(t, err)
		require.Equal(t, []Result{{Output: outputs[name]}}, results, name)
	}
}

// TestPrograms runs CCM_LUA_DIFF_PROGRAMS programs from seed CCM_LUA_DIFF_SEED on in both engines (make lua-diff).
func TestPrograms(t *testing.T) {
	count, err := strconv.ParseUint(os.Getenv("CCM_LUA_DIFF_PROGRAMS"), 10, 64)
	if err != nil {
		t.Skip("make lua-diff runs this")
	}
	first, err := strconv.ParseUint(os.Getenv("CCM_LUA_DIFF_SEED"), 10, 64)
	require.NoError(t, err, "CCM_LUA_DIFF_SEED")
	lua := newLua(t)
	const atOnce = 50
	found := 0
	for seed := first; seed < first+count; seed += atOnce {
		var programs []Program
		for s := seed; s < min(seed+atOnce, first+count); s++ {
			programs = append(programs, Generate(s))
		}
		differences, err := lua.Compare(programs...)
		require.NoError(t, err, "in the programs from seed %d on", seed)
		for i, difference := range differences {
			if difference == "" {
				continue
			}
			small := Shrink(programs[i], func(p Program) bool {
				d, err := lua.Compare(p)
				return err == nil && d[0] != ""
			})
			if d, err := lua.Compare(small); err == nil {
				difference = d[0]
			}
			t.Errorf("seed %d: %s\n%s", seed+uint64(i), difference, small)
			if found++; found == 10 {
				t.Fatalf("10 programs differ up to seed %d", seed+uint64(i))
			}
		}
	}
	if found == 0 {
		t.Logf("%d programs from seed %d on: no difference", count, first)
	}
}

// newLua returns the reference interpreter. The test is skipped without it, or fails if CCM_LUA_DIFF is "required".
func newLua(t *testing.T) *Lua {
	t.Helper()
	program, err := exec.LookPath("lua5.1")
	if err != nil && os.Getenv("CCM_LUA_DIFF") == "required" {
		t.Fatal("lua5.1 is not installed (install the package lua5.1)")
	}
	if err != nil {
		t.Skip("lua5.1 is not installed (install the package lua5.1)")
	}
	lua, err := NewLua(program, t.TempDir())
	require.NoError(t, err)
	return lua
}
