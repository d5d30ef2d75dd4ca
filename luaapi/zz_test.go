package luaapi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	files, _ := filepath.Glob(os.Getenv("SCRATCH"))
	reg := registry(t)
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var b catalog.Builder
		in := luaapi.New(luaapi.Options{Registry: reg, Builder: &b, Print: os.Stdout, Timeout: time.Second * 20, Memory: 512 << 20, Version: "1.0",
			Facts: facts.Static(map[string]any{"os": map[string]any{"family": "debian", "name": "x", "empty": nil}, "list": []any{"a", int64(2)}, "num": 1.5}),
			Warn:  func(p diag.Pos, msg string) { fmt.Println("WARN", p, msg) },
			Env:   func(n string) (string, bool) { return "/root", n == "HOME" },
		})
		fmt.Println("====", strings.TrimSpace(string(text)))
		start := time.Now()
		err := in.Run(context.Background(), filepath.Base(file), text)
		if d := time.Since(start); d > 100*time.Millisecond {
			fmt.Println("took", d)
		}
		if err != nil {
			diag.Render(os.Stdout, "", err, in.Sources())
		}
		for _, r := range b.Resources() {
			fmt.Println(r.ID, r.Pos, r.Calls, fmt.Sprintf("%+v", r.Spec))
		}
		in.Close()
	}
}
