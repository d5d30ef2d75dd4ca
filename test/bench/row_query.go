package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages measures packages that are installed. Nothing is installed by it: a
// plan must first say that there is nothing to do.
func (b *bench) packages() ([]line, error) {
	work := fmt.Sprintf("%d installed packages", b.sizes.packages)
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return nil, notMeasured{work, "there is no dpkg-query here"}
	}
	names, err := installed(b.sizes.packages)
	if err != nil {
		return nil, err
	}
	if len(names) < b.sizes.packages {
		work = fmt.Sprintf("%d installed packages (there are no more)", len(names))
	}
	return b.query(work, "package", "packages", names, func(string) []string { return []string{"ensure", "present"} })
}

// installed returns the names of n installed packages, from all over the list.
func installed(n int) ([]string, error) {
	out, err := exec.Command("dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n").Output()
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		name, ok := strings.CutSuffix(strings.TrimSpace(line), " installed")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) <= n {
		return names, nil
	}
	spread := make([]string, n)
	for i := range spread {
		spread[i] = names[i*len(names)/n]
	}
	return spread, nil
}

// services measures services that are as they should be, where systemd runs.
func (b *bench) services() ([]line, error) {
	work := fmt.Sprintf("%d services", b.sizes.services)
	if b.lab {
		return b.servicesInLab(work)
	}
	if out, _ := exec.Command("systemctl", "is-system-running").Output(); !slices.Contains([]string{"running", "degraded", "starting"}, strings.TrimSpace(string(out))) {
		return nil, notMeasured{work, "systemd does not run here; -lab measures it in a throw-away system (root)"}
	}
	if b.throwaway {
		if err := makeUnits(b.sizes.services); err != nil {
			return nil, err
		}
	}
	active, err := services(b.sizes.services)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(active))
	for name := range active {
		names = append(names, name)
	}
	slices.Sort(names)
	return b.query(fmt.Sprintf("%d services", len(names)), "service", "services", names, func(name string) []string {
		if active[name] {
			return []string{"ensure", "running"}
		}
		return []string{"ensure", "stopped"}
	})
}

// services returns up to n services, and whether they are running.
func services(n int) (map[string]bool, error) {
	out, err := exec.Command("systemctl", "list-units", "--all", "--type=service", "--plain", "--no-legend", "--no-pager").Output()
	if err != nil {
		return nil, err
	}
	active := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != "loaded" || strings.Contains(f[0], "@") || len(active) == n {
			continue
		}
		switch f[2] {
		case "active":
			active[f[0]] = true
		case "inactive":
			active[f[0]] = false
		}
	}
	return active, nil
}

// makeUnits makes n services and starts them.
func makeUnits(n int) error {
	var names []string
	for i := range n {
		name := fmt.Sprintf("aaa-bench-%03d.service", i)
		text := "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
		if err := os.WriteFile(filepath.Join("/run/systemd/system", name), []byte(text), 0o644); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := command("systemctl", "daemon-reload"); err != nil {
		return err
	}
	return command(append([]string{"systemctl", "start"}, names...)...)
}

// query measures resources that one question answers.
func (b *bench) query(work, typ, mode string, names []string, properties func(string) []string) ([]line, error) {
	list, err := b.write(mode+".list", strings.Join(names, "\n")+"\n")
	if err != nil {
		return nil, err
	}
	sides := []*side{b.floorSide("floor "+mode, 0, mode, list)}
	for _, in := range []form{lua, yaml} {
		file, err := b.write(mode+"."+string(in), b.namedSite(typ, names, in, properties))
		if err != nil {
			return nil, err
		}
		if _, err := b.once(b.plan(mode, file, allStable(len(names)))); err != nil {
			return nil, fmt.Errorf("they are not as they should be, and nothing was touched: %w", err)
		}
		sides = append(sides, b.run(mode+"."+string(in), file, allStable(len(names))))
	}
	if err := b.measure(sides...); err != nil {
		return nil, err
	}
	return []line{{
		Work: work, Floor: ms(sides[0]), Lua: ms(sides[1]), YAML: ms(sides[2]),
		Of: [2]float64{b.ratio(sides[1], sides[0]), b.ratio(sides[2], sides[0])}, Limits: both(3),
	}}, nil
}

// servicesInLab boots a throw-away system and has a bench there measure.
func (b *bench) servicesInLab(work string) ([]line, error) {
	if os.Geteuid() != 0 {
		return nil, notMeasured{work, "a throw-away system needs root"}
	}
	dir := filepath.Join(b.scratch, "lab")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	if err := command("go", "build", "-o", filepath.Join(dir, "bench"), "./test/bench"); err != nil {
		return nil, err
	}
	for name, from := range map[string]string{"ccm": b.ccm, "floor": b.floor} {
		if err := command("cp", from, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if err := command("test/lab/lab", "build"); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("bench-%d", os.Getpid())
	if err := command("test/lab/lab", "up", name, "--bind", dir+":/opt/bench"); err != nil {
		return nil, err
	}
	defer command("test/lab/lab", "down", name)
	argv := []string{"exec", name, "--", "/opt/bench/bench", "-only", "services", "-lines", "-throwaway",
		"-ccm", "/opt/bench/ccm", "-floor", "/opt/bench/floor", "-rounds", fmt.Sprint(b.rounds), fmt.Sprintf("-quick=%v", b.quick)}
	c := exec.Command("test/lab/lab", argv...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("in the lab: %w\n%s", err, stderr.String())
	}
	var lines []line
	if err := json.Unmarshal(out, &lines); err != nil {
		return nil, err
	}
	for i := range lines {
		lines[i].Note = strings.TrimPrefix(lines[i].Note+"; in a throw-away system with systemd", "; ")
	}
	return lines, nil
}
