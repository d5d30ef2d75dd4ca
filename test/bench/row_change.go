package main

import (
	"errors"
	"fmt"
	"os"
)

// create measures files that are made, durably, on each file system there is.
func (b *bench) create() ([]line, error) {
	var lines []line
	for _, p := range []*place{b.mem, b.disk} {
		if p == nil {
			return append(lines, line{Work: "files created on a disk", Note: "there is no other file system here; -disk names one"}), nil
		}
		l, err := b.createOn(p, p == b.mem)
		if err != nil {
			return lines, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func (b *bench) createOn(p *place, peersToo bool) (line, error) {
	f := files{p.path("created"), b.sizes.created}
	list, data, err := f.work(p.dir)
	if err != nil {
		return line{}, err
	}
	made := counts{total: f.n, changed: f.n}
	floor := func(how string) *side {
		s := b.floorSide("floor create "+how, f.n, "create", list, data, fmt.Sprint(size), "1", how)
		s.check = all(s.check, f.checkAll)
		return s.fresh(p, f.dir)
	}
	ccm := func(in form, text string) (*side, error) {
		file, err := b.write("create-"+p.kind+"."+string(in), text)
		if err != nil {
			return nil, err
		}
		s := b.ccmSide(p, "run", "create."+string(in), file, made)
		s.check = all(s.check, f.checkAll)
		return s.fresh(p, f.dir), nil
	}
	batch, each, none := floor("batch"), floor("each"), floor("none")
	script, err := ccm(lua, b.loopSite(f))
	if err != nil {
		return line{}, err
	}
	manifest, err := ccm(yaml, b.literalSite(f, yaml))
	if err != nil {
		return line{}, err
	}
	var peers []*side
	if peersToo {
		for _, peer := range b.peers {
			s := b.peerSide(peer, "files", p, fileWork{f}).fresh(p, f.dir)
			s.check = f.check
			peers = append(peers, s)
		}
	}
	if err := b.measure(append([]*side{batch, each, none, script, manifest}, peers...)...); err != nil {
		return line{}, err
	}
	return line{
		Work:  fmt.Sprintf("%s files created, %s", thousands(f.n), p.kind),
		Floor: ms(batch), Lua: ms(script), YAML: ms(manifest),
		Of: [2]float64{b.ratio(script, batch), b.ratio(manifest, batch)}, Limits: both(1.5), Peers: peerTimes(peers),
		Note: fmt.Sprintf("the floor syncs once for all of them; with one sync for each file and its directory it takes %s, with none %s. What is told of peers is not durable",
			ms(each), ms(none)),
	}, nil
}

// drift measures runs that find one file in a hundred changed.
func (b *bench) drift() ([]line, error) {
	f := files{b.mem.path("files"), b.sizes.middle}
	one, _, script, manifest, err := b.stableSides(f)
	if err != nil {
		return nil, err
	}
	list, data, err := f.work(b.mem.dir)
	if err != nil {
		return nil, err
	}
	drifting := func(s *side) *side {
		s.before = f.drift
		return s
	}
	repaired := counts{total: f.n, changed: f.drifted()}
	floor := drifting(b.floorSide("floor drift", f.drifted(), "create", list, data, fmt.Sprint(size), "1", "batch"))
	driftScript := drifting(b.run("loop", last(script.argv), repaired))
	driftManifest := drifting(b.run("literal", last(manifest.argv), repaired))
	// What drifted is repaired by each side before the next one looks.
	if err := b.measure(one, script, manifest, floor, driftScript, driftManifest); err != nil {
		return nil, err
	}
	if err := f.check(outcome{}); err != nil {
		return nil, err
	}
	changes := b.paired(func(k int) float64 { return wall(floor.runs[k]) - wall(one.runs[k]) })
	ratio := func(drifted, stable *side) float64 {
		return b.paired(func(k int) float64 { return (wall(drifted.runs[k]) - changes) / wall(stable.runs[k]) })
	}
	peers, err := b.peersDrift(f)
	if err != nil {
		return nil, err
	}
	lines := []line{{
		Work:  fmt.Sprintf("%d of %s files drifted", f.drifted(), thousands(f.n)),
		Floor: ms(floor), Lua: ms(driftScript), YAML: ms(driftManifest),
		Of: [2]float64{ratio(driftScript, script), ratio(driftManifest, manifest)}, Limits: both(1.2), Than: "all stable", Peers: peers,
		Note: fmt.Sprintf("without what the changes cost the floor, %s ms; all stable: %s / %s", number(changes), ms(script), ms(manifest)),
	}}
	read, err := b.readingOf(f, list, data, floor, driftScript, driftManifest)
	return append(lines, read...), err
}

// readingOf compares how much was read of the files.
func (b *bench) readingOf(f files, list, data string, floor, script, manifest *side) ([]line, error) {
	if floor.median(bytesRead) < 0 {
		return []line{{Work: "bytes read meanwhile", Note: "/proc does not tell how much a process reads"}}, nil
	}
	input := func(s *side, names ...string) (float64, error) {
		n := s.median(bytesRead)
		for _, name := range names {
			fi, err := os.Stat(name)
			if err != nil {
				return 0, err
			}
			n -= float64(fi.Size())
		}
		return n, nil
	}
	var read [3]float64
	for i, s := range []*side{floor, script, manifest} {
		names := [][]string{{list, data}, {last(script.argv)}, {last(manifest.argv)}}[i]
		var err error
		if read[i], err = input(s, names...); err != nil {
			return nil, err
		}
	}
	mib := func(n float64) string { return number(n/(1<<20)) + " MiB" }
	return []line{{
		Work: "bytes read meanwhile", Floor: mib(read[0]), Lua: mib(read[1]), YAML: mib(read[2]),
		Of: [2]float64{read[1] / read[0], read[2] / read[0]}, Limits: both(2), Note: "without the script, the manifest and the lists of the floor",
	}}, nil
}

// peersDrift measures peers at the same, with fewer files: most need seconds for
// these.
func (b *bench) peersDrift(f files) (string, error) {
	var peers []*side
	for _, p := range b.peers {
		if !p.fast {
			continue
		}
		s := b.peerSide(p, "files", b.mem, fileWork{f})
		s.before = f.drift
		peers = append(peers, s)
	}
	if len(peers) == 0 {
		return "", nil
	}
	err := b.measure(peers...)
	return peerTimes(peers), errors.Join(err, f.fill()) // whatever they made of it
}

func last(list []string) string { return list[len(list)-1] }
