//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// A figure is what a Go benchmark said.
type figure struct {
	Package, Name     string
	NS, Bytes, Allocs float64 // for each operation
}

// hot are the benchmarks of the hot paths, by package.
var hot = []struct{ pkg, pattern string }{
	{"luaapi", "^Benchmark(New|Declare|DeclareInFunction|Literal)$"},
	{"runtime/manifest", "^BenchmarkLoad$"},
	{"runtime/schema", "^Benchmark(Decode|Fingerprint)$"},
	{"runtime/catalog", "^BenchmarkBuild$"},
	{"runtime/converge", "^BenchmarkWalk$"},
	{"runtime/report", "^BenchmarkEvents$"},
}

// hotPaths runs the benchmarks of the hot paths.
func (b *bench) hotPaths() ([]figure, error) {
	duration := "300ms"
	if b.quick {
		duration = "1x"
	}
	var all []figure
	for _, h := range hot {
		list, err := goBench(h.pkg, h.pattern, duration, 1)
		if err != nil {
			return all, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// goBench runs Go benchmarks of a package. Those that ran several times are there
// several times.
func goBench(pkg, pattern, duration string, count int) ([]figure, error) {
	argv := []string{"test", "-run", "^$", "-bench", pattern, "-benchmem", "-benchtime", duration, "-count", fmt.Sprint(count), "./" + pkg}
	out, err := exec.Command("go", argv...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	list := readFigures(pkg, string(out))
	if len(list) == 0 {
		return nil, fmt.Errorf("go %s: there is no such benchmark", strings.Join(argv, " "))
	}
	return list, nil
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s`)

// readFigures reads what go test says of benchmarks.
func readFigures(pkg, out string) []figure {
	var list []figure
	for line := range strings.Lines(out) {
		m := benchLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f := figure{Package: pkg, Name: m[1]}
		fields := strings.Fields(line)
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			switch fields[i+1] {
			case "ns/op":
				f.NS = v
			case "B/op":
				f.Bytes = v
			case "allocs/op":
				f.Allocs = v
			}
		}
		list = append(list, f)
	}
	return list
}

// time returns the time of an operation in the unit that suits it.
func (f figure) time() string {
	switch {
	case f.NS >= 1e6:
		return number(f.NS/1e6) + " ms"
	case f.NS >= 1e3:
		return number(f.NS/1e3) + " µs"
	}
	return number(f.NS) + " ns"
}

// data measures large tables of data that a script reads, against the decoder.
func (b *bench) data() ([]line, error) {
	const work = "100,000 values of data into Lua"
	if !b.goBench {
		return nil, notMeasuredError{work, "it is a Go benchmark, and -go=false was given"}
	}
	duration := "5x"
	if b.quick {
		duration = "1x"
	}
	ours, err := goBench("luaapi/std", "^BenchmarkTable$", duration, min(b.rounds, 3))
	if err != nil {
		return nil, err
	}
	yamls, err := goBench("runtime/data", "^BenchmarkDecoder$", duration, min(b.rounds, 3))
	if err != nil {
		return nil, err
	}
	of := func(list []figure, name string) float64 {
		var times []float64
		for _, f := range list {
			if f.Name == name {
				times = append(times, f.NS/1e6)
			}
		}
		return median(times)
	}
	var lines []line
	for _, d := range []struct {
		name         string
		ccm, decoder float64
	}{
		{"JSON", of(ours, "Table/json"), of(ours, "Table/decoder")},
		{"YAML", of(ours, "Table/yaml"), of(yamls, "Decoder")},
	} {
		lines = append(lines, line{
			Work: work + ", " + d.name, Floor: number(d.decoder) + " ms", Lua: number(d.ccm) + " ms",
			Value: [2]float64{d.ccm / d.decoder}, Limits: both(2), Baseline: "the decoder",
			Note: "Go benchmarks: BenchmarkTable of luaapi/std, and the decoder into Go values",
		})
	}
	return lines, nil
}

// hotTable writes what the Go benchmarks say.
func hotTable(list []figure) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", f.Package, f.Name, f.time(), bytesOf(f.Bytes), number(f.Allocs))
	}
	return b.String()
}

func bytesOf(n float64) string {
	switch {
	case n >= 1<<20:
		return number(n/(1<<20)) + " MiB"
	case n >= 1<<10:
		return number(n/(1<<10)) + " KiB"
	}
	return number(n) + " B"
}
