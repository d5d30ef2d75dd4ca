package luaapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// declarations is the number of resources in one round of a benchmark.
const declarations = 10_000

func benchmarkScript(b *testing.B, script string) {
	b.Helper()
	reg := registry(b)
	text := []byte(script)
	b.ReportAllocs()
	for b.Loop() {
		benchmarkRun(b, reg, text)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/declarations, "ns/resource")
}

func benchmarkRun(b *testing.B, reg *resource.Registry, text []byte) {
	b.Helper()
	var builder catalog.Builder
	in := luaapi.New(luaapi.Options{Registry: reg, Builder: &builder})
	defer in.Close()
	if err := in.Run(context.Background(), "site.lua", string(text)); err != nil {
		b.Fatal(err)
	}
	if n := len(builder.Resources()); n != declarations {
		b.Fatalf("%d resources", n)
	}
}

// BenchmarkDeclare declares files in a loop.
func BenchmarkDeclare(b *testing.B) {
	benchmarkScript(b, fmt.Sprintf(`
local c = ("x"):rep(1024)
for i = 1, %d do
  file { "/etc/app/f" .. i .. ".conf", content = c, owner = "root", group = "root", mode = "0644" }
end`, declarations))
}

// BenchmarkDeclareInFunction declares files with defaults in a function.
func BenchmarkDeclareInFunction(b *testing.B) {
	benchmarkScript(b, fmt.Sprintf(`
file.defaults { owner = "root", group = "root", mode = "0644" }
local function conf(i)
  file { "/etc/app/f" .. i .. ".conf", content = "x" }
end
for i = 1, %d do conf(i) end`, declarations))
}

// BenchmarkLiteral declares literal files in functions.
func BenchmarkLiteral(b *testing.B) {
	var s strings.Builder
	for i := range declarations {
		if i%100 == 0 {
			s.WriteString("(function()\n")
		}
		fmt.Fprintf(&s, "file { \"/etc/app/f%d.conf\", content = \"%08d%s\", owner = \"root\", group = \"root\", mode = \"0644\" }\n", i, i, strings.Repeat("x", 1016))
		if i%100 == 99 {
			s.WriteString("end)();\n")
		}
	}
	benchmarkScript(b, s.String())
}

// BenchmarkNew makes an interpreter and runs nothing.
func BenchmarkNew(b *testing.B) {
	reg := registry(b)
	b.ReportAllocs()
	for b.Loop() {
		luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder)}).Close()
	}
}
