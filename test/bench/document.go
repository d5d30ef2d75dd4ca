//go:build linux

package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed performance.md.tmpl
var documentText string

// writeDocument writes the page about performance.
func (b *bench) writeDocument(name string) error {
	t, err := template.New("performance.md").Parse(documentText)
	if err != nil {
		return err
	}
	var text strings.Builder
	err = t.Execute(&text, map[string]any{
		"At": b.circumstances(), "Table": markdown(b.lines), "Notes": notes(b.lines), "Hot": hotTable(b.hot), "Missed": missed(b.lines),
		"One": withSingleCore(b.lines, b.singleCore),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// circumstances are those of the machine and of the programs.
func (b *bench) circumstances() map[string]any {
	fileSystems := b.mem.kind
	if b.disk != nil {
		fileSystems += " and " + b.disk.kind
	}
	var u unix.Utsname
	var info unix.Sysinfo_t
	_, _ = unix.Uname(&u), unix.Sysinfo(&info)
	peers := make([]string, len(b.installed))
	for i, p := range b.installed {
		peers[i] = p.name + " (" + p.version + ")"
	}
	sum, most := 0.0, 0.0
	for _, o := range b.otherLoad {
		sum, most = sum+o, max(most, o)
	}
	return map[string]any{
		"Date": time.Now().UTC().Format("2006-01-02"), "CPU": cpuModel(), "Go": runtime.Version(), "CCM": b.version(),
		"Cores": runtime.NumCPU(), "Rounds": b.rounds, "Quick": b.quick, "FileSystems": fileSystems, "Peers": peers,
		"Kernel": unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]),
		"Memory": fmt.Sprintf("%.0f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30)),
		"Others": number(sum / float64(max(1, len(b.otherLoad)))), "MostOthers": number(most),
	}
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

// withSingleCore writes the table of the ratios here beside those on one processor.
func withSingleCore(here, one []line) string {
	ratios := make(map[string]string, len(here))
	for _, l := range here {
		ratios[l.Work] = l.Ratio()
	}
	var b strings.Builder
	for _, l := range one {
		if ratio := ratios[l.Work]; ratio != "" && l.Ratio() != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", l.Work, ratio, l.Ratio())
		}
	}
	return b.String()
}
