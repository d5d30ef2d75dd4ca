package luadiff

import (
	"errors"
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

// TestCorpus: programs that differed once, each with what lua5.1 prints behind --[[out and before ]].
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".lua"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			program, want, ok := strings.Cut(string(text), "--[[out\n")
			require.True(t, ok)
			got, err := RunCCM(program)
			require.NoError(t, err)
			require.Equal(t, strings.TrimSuffix(want, "]]\n"), got)
		})
	}
}

// TestPrograms runs CCM_LUA_DIFF_PROGRAMS programs from seed CCM_LUA_DIFF_SEED on in both engines (make lua-diff).
func TestPrograms(t *testing.T) {
	count, err := strconv.ParseUint(os.Getenv("CCM_LUA_DIFF_PROGRAMS"), 10, 64)
	if err != nil {
		t.Skip("make lua-diff runs this")
	}
	first, _ := strconv.ParseUint(os.Getenv("CCM_LUA_DIFF_SEED"), 10, 64)
	program, err := exec.LookPath("lua5.1")
	if err != nil {
		if os.Getenv("CCM_LUA_DIFF") == "required" {
			t.Fatal("lua5.1 is not installed (install the package lua5.1)")
		}
		t.Skip("lua5.1 is not installed (install the package lua5.1)")
	}
	lua, err := NewLua(program, t.TempDir())
	require.NoError(t, err)
	failed, invalid := 0, 0
	for seed := first; seed < first+count; seed++ {
		p := Generate(seed)
		difference, err := lua.Compare(p)
		if errors.Is(err, errInvalid) {
			t.Errorf("seed %d: %v", seed, err)
			invalid++
		} else {
			require.NoError(t, err, "seed %d", seed)
		}
		if difference != "" {
			failed++
			small := Shrink(p, func(p Program) bool {
				d, err := lua.Compare(p)
				return err == nil && d != ""
			})
			difference, _ = lua.Compare(small)
			t.Errorf("seed %d: %s\n%s", seed, difference, small)
		}
		if failed+invalid == 10 {
			t.Fatalf("10 programs failed up to seed %d", seed)
		}
	}
	t.Logf("%d programs from seed %d on: no difference", count, first)
}
