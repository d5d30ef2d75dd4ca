package main

import (
	"fmt"
)

// Recorded figures of gru, of a machine on which the floor takes recordedFloor
// for 1,000 stable files: what gru would take here is derived from them where it
// is not installed.
const (
	recordedEmpty   = 6.5 // ms, an empty site
	recordedVersion = 5.8 // ms, gructl --version
	recordedFloor   = 7.5 // ms
)

// empty measures runs that have nothing to do at all.
func (b *bench) empty() ([]line, error) {
	script, err := b.write("empty.lua", "")
	if err != nil {
		return nil, err
	}
	manifest, err := b.write("empty.yaml", "ccm:\n  resources: []\n")
	if err != nil {
		return nil, err
	}
	nothing := b.floorSide("floor", 0, "nothing")
	runs := []*side{b.run("empty.lua", script, allStable(0)), b.run("empty.yaml", manifest, allStable(0))}
	version := &side{name: "ccm version", argv: []string{b.ccm, "version"}}
	sides := append([]*side{nothing, version}, runs...)

	gru := b.peer("gru")
	var gruEmpty, gruVersion, stable *side
	if gru != nil {
		gruEmpty, gruVersion = b.peerSide(gru, "empty", b.mem, emptyWork{}), &side{name: "gru --version", argv: []string{gru.binary, "--version"}}
		sides = append(sides, gruEmpty, gruVersion)
	} else {
		f := files{b.mem.path("files"), b.sizes.small}
		if stable, err = b.floorStable(f, 1); err != nil {
			return nil, err
		}
		sides = append(sides, stable)
	}
	var others []*side
	for _, p := range b.peers {
		if p != gru {
			others = append(others, b.peerSide(p, "empty", b.mem, emptyWork{}))
		}
	}
	if err := b.measure(append(sides, others...)...); err != nil {
		return nil, err
	}

	base := func(measured *side, recorded float64) func(k int) float64 {
		if measured != nil {
			return func(k int) float64 { return wall(measured.runs[k]) }
		}
		scale := recorded / recordedFloor * 1000 / float64(b.sizes.small)
		return func(k int) float64 { return wall(stable.runs[k]) * scale }
	}
	against := func(s *side, than func(int) float64) float64 {
		return b.paired(func(k int) float64 { return wall(s.runs[k]) / than(k) })
	}
	toEmpty, toVersion := base(gruEmpty, recordedEmpty), base(gruVersion, recordedVersion)
	lines := []line{{
		Work: "`ccm run` of an empty site", Floor: ms(nothing), Lua: ms(runs[0]), YAML: ms(runs[1]),
		Of: [2]float64{against(runs[0], toEmpty), against(runs[1], toEmpty)}, Limits: both(1.5), Than: "gru", Peers: peerTimes(append(present(gruEmpty), others...)),
	}, {
		Work: "`ccm version`", Floor: ms(nothing), Lua: ms(version),
		Of: [2]float64{against(version, toVersion)}, Limits: both(1.5), Than: "gru", Peers: peerTimes(present(gruVersion)),
	}}
	if gru == nil {
		for i, recorded := range []float64{recordedEmpty, recordedVersion} {
			lines[i].Note = fmt.Sprintf("gru is not installed here. It is taken to need %s times what the floor needs for 1,000 stable files, as recorded earlier (%s ms to %s ms)",
				number(recorded/recordedFloor), number(recorded), number(recordedFloor))
		}
	}
	return lines, nil
}

// present returns the sides that are there.
func present(sides ...*side) []*side {
	var list []*side
	for _, s := range sides {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// ms returns the median time of a side, as the table has it.
func ms(s *side) string { return number(s.ms()) + " ms" }
