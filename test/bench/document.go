package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed performance.md.tmpl
var documentText string

// facts of the machine and of the programs, as the document has them.
type circumstances struct {
	Date, CPU, Kernel, Memory, FileSystems, Go, CCM string
	Cores, Rounds, Workers                          int
	Quick                                           bool
	Peers                                           []string
	Others, MostOthers                              string
}

// writeDocument writes the page about performance.
func (b *bench) writeDocument(name string) error {
	t, err := template.New("performance.md").Parse(documentText)
	if err != nil {
		return err
	}
	var text strings.Builder
	err = t.Execute(&text, map[string]any{
		"At": b.circumstances(), "Table": markdown(b.lines), "Notes": notes(b.lines), "Hot": hotTable(b.hot), "Missed": missed(b.lines),
		"One": besideOneProcessor(b.lines, b.one),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

func (b *bench) circumstances() circumstances {
	c := circumstances{
		Date: time.Now().UTC().Format("2006-01-02"), CPU: cpuModel(), Go: runtime.Version(), CCM: b.version(),
		Cores: runtime.NumCPU(), Rounds: b.rounds, Workers: b.workers, Quick: b.quick, FileSystems: b.mem.kind,
	}
	if b.disk != nil {
		c.FileSystems += " and " + b.disk.kind
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		c.Kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		c.Memory = fmt.Sprintf("%.0f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30))
	}
	for _, p := range b.peers {
		c.Peers = append(c.Peers, strings.TrimSpace(p.name+" ("+p.about+")"))
	}
	sum := 0.0
	for _, o := range b.others {
		sum += o
	}
	if len(b.others) > 0 {
		c.Others, c.MostOthers = number(sum/float64(len(b.others))), number(slices.Max(b.others))
	}
	return c
}

// version returns the version of the ccm that is measured, with its commit.
func (b *bench) version() string {
	out, err := exec.Command(b.ccm, "version").Output()
	if err != nil {
		return "of unknown version"
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(out)), "ccm ")
	if commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil && !strings.Contains(text, strings.TrimSpace(string(commit))) {
		text += ", commit " + strings.TrimSpace(string(commit))
	}
	return text
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return runtime.GOARCH
}

// missed lists what is slower than wanted.
func missed(lines []line) []string {
	var list []string
	for _, l := range lines {
		if strings.Contains(l.Met(), "no") {
			list = append(list, fmt.Sprintf("%s: %s, wanted %s", l.Work, l.Ratio(), l.Target()))
		}
	}
	return list
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
