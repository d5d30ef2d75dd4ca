//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// A row is one line of the list of targets; it gives one or more lines of the table.
type row struct {
	key     string
	work    string
	measure func(*bench) ([]line, error)
}

var rows = []row{
	{"empty", "empty runs", (*bench).empty},
	{"loop", "files of a loop", (*bench).loop},
	{"literal", "literal declarations", (*bench).literal},
	{"stable", "stable files", (*bench).stable},
	{"create", "files created", (*bench).create},
	{"drift", "drifted files", (*bench).drift},
	{"packages", "installed packages", (*bench).packages},
	{"services", "services", (*bench).services},
	{"execs", "execs with `creates`", (*bench).execs},
	{"bigfile", "a large file from a local source", (*bench).bigfile},
	{"order", "order and references", (*bench).order},
	{"data", "large tables of data", (*bench).data},
}

// A notMeasuredError says why a row has no figures.
type notMeasuredError struct{ work, reason string }

// Error implements error.
func (n notMeasuredError) Error() string { return n.reason }

// row measures one row, and how much else went on meanwhile. A row that cannot
// be measured says so in the table.
func (b *bench) row(r row) error {
	waitForQuiet(b.patience)
	b.current = r.key
	m := startMeter()
	lines, err := r.measure(b)
	others := m.others()
	b.otherLoad = append(b.otherLoad, others)
	if absent, ok := errors.AsType[notMeasuredError](err); ok {
		lines, err = append(lines, line{Work: absent.work, Note: absent.reason}), nil
	} else if err != nil {
		lines = append(lines, line{Work: r.work, Note: "it failed: " + err.Error()})
	}
	for i := range lines {
		lines[i].Key, lines[i].Noisy = r.key, others > 0.2
	}
	b.lines = append(b.lines, lines...)
	return err
}

// A comparison is programs that do the same work.
type comparison struct {
	work     string
	floor    *program   // that ratios are of
	parallel *program   // the same with as many workers as ccm has; may be nil
	ccm      []*program // with a script, and with a manifest
	peers    []*program
	others   []*program // that notes and other lines tell of
	limits   [2]float64 // of the ratios
	note     func() string
}

// compare measures the programs of a comparison and returns its line.
func (b *bench) compare(c comparison) (line, error) {
	programs := slices.Concat([]*program{c.floor}, c.others, c.ccm, c.peers)
	if c.parallel != nil {
		programs = slices.Insert(programs, 1, c.parallel)
	}
	if err := b.measure(programs...); err != nil {
		return line{}, err
	}
	l := line{Work: c.work, Floor: ms(c.floor), Lua: ms(c.ccm[0]), Limits: c.limits, Peers: peerTimes(c.peers)}
	if c.parallel != nil {
		l.Floor += fmt.Sprintf(" (%d workers: %s)", b.workers, number(c.parallel.median(wall)))
	}
	for i, p := range c.ccm {
		l.Value[i] = b.ratio(p, c.floor)
	}
	if len(c.ccm) > 1 {
		l.YAML = ms(c.ccm[1])
	}
	if c.note != nil {
		l.Note = c.note()
	}
	return l, nil
}

// files are n files in memory, which are made what they should be.
func (b *bench) files(n int) (files, error) {
	f := files{b.mem.path("files"), n}
	return f, f.fill()
}

// floorFiles returns the floor for files that are stable.
func (b *bench) floorFiles(f files, workers int) (*program, error) {
	list, data, err := f.lists(b.mem.dir)
	return b.floorProgram(0, "stable", list, data, fmt.Sprint(size), fmt.Sprint(workers)), err
}

// fileScripts returns runs of ccm with a script that declares the files in a loop, and
// with a manifest that declares each by itself.
func (b *bench) fileScripts(f files, p *place, want outcomeCounts) ([]*program, error) {
	script, err := f.loop(b)
	if err != nil {
		return nil, err
	}
	manifest, err := b.write(fmt.Sprintf("literal-%s-%d.yaml", filepath.Base(f.dir), f.n), f.literal(b.site("file")).text("yaml"))
	return []*program{b.ccmProgram(p, "run", script, want), b.ccmProgram(p, "run", manifest, want)}, err
}

// Recorded figures of gru, of a machine on which the floor takes recordedFloor
// for 1,000 stable files: what gru would take here is derived from them where it
// is not installed.
const (
	recordedEmpty   = 6.5 // ms, an empty site
	recordedVersion = 5.8 // ms, gructl --version
	recordedFloor   = 7.5 // ms
)

// empty measures runs that have nothing to do at all, against gru.
func (b *bench) empty() ([]line, error) {
	scripts, err := b.scripts("empty", b.site("exec"), func(file string) *program { return b.ccmProgram(b.mem, "run", file, allStable(0)) })
	if err != nil {
		return nil, err
	}
	script, err := b.write("empty.yaml", "ccm:\n  resources: []\n")
	if err != nil {
		return nil, err
	}
	scripts[1].argv[len(scripts[1].argv)-1] = script
	version := &program{name: "ccm version", argv: []string{b.ccm, "version"}}
	nothing, peers := b.floorProgram(0, "nothing"), b.peers("empty", b.site("exec"), false)
	f, err := b.files(b.sizes.small)
	if err != nil {
		return nil, err
	}
	stable, err := b.floorFiles(f, 1)
	if err != nil {
		return nil, err
	}
	var gru []*program // with an empty site, and its version
	if len(peers) > 0 && peers[0].name == "gru" {
		gru = []*program{peers[0], {name: "gru --version", argv: []string{peers[0].argv[0], "--version"}}}
		peers = append(peers, gru[1])
	}
	if err := b.measure(slices.Concat([]*program{nothing, version, stable}, scripts, peers)...); err != nil {
		return nil, err
	}
	against := func(p *program, which int) float64 {
		if gru != nil {
			return b.ratio(p, gru[which])
		}
		scale := []float64{recordedEmpty, recordedVersion}[which] / recordedFloor * 1000 / float64(b.sizes.small)
		return b.ratio(p, stable) / scale
	}
	lines := []line{
		{Work: "`ccm run` of an empty site", Lua: ms(scripts[0]), YAML: ms(scripts[1]), Value: [2]float64{against(scripts[0], 0), against(scripts[1], 0)}},
		{Work: "`ccm version`", Lua: ms(version), Value: [2]float64{against(version, 1)}},
	}
	if gru != nil {
		peers = peers[:len(peers)-1]
		lines[1].Peers = peerTimes(gru[1:])
	}
	lines[0].Peers = peerTimes(peers)
	for i, recorded := range []float64{recordedEmpty, recordedVersion} {
		lines[i].Floor, lines[i].Limits, lines[i].Baseline = ms(nothing), both(1.5), "gru"
		if gru == nil {
			lines[i].Note = fmt.Sprintf("gru is not installed here. It is taken to need %s times what the floor needs for 1,000 stable files, as recorded earlier (%s ms to %s ms)",
				number(recorded/recordedFloor), number(recorded), number(recordedFloor))
		}
	}
	return lines, nil
}
