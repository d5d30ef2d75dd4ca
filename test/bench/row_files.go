package main

import (
	"fmt"
)

// floorStable returns the floor for files that are as they should be, and sees to
// it that they are.
func (b *bench) floorStable(f files, workers int) (*side, error) {
	if err := f.fill(); err != nil {
		return nil, err
	}
	list, data, err := f.work(b.mem.dir)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("floor stable %d, %d workers", f.n, workers)
	return b.floorSide(name, 0, "stable", list, data, fmt.Sprint(size), fmt.Sprint(workers)), nil
}

// stableSides returns the floor with one worker and with as many as ccm has, and
// ccm with a script that declares the files in a loop and a manifest that writes
// them out.
func (b *bench) stableSides(f files) (one, many, script, manifest *side, err error) {
	if one, err = b.floorStable(f, 1); err != nil {
		return nil, nil, nil, nil, err
	}
	if many, err = b.floorStable(f, b.workers); err != nil {
		return nil, nil, nil, nil, err
	}
	loop, err := b.write(fmt.Sprintf("loop-%d.lua", f.n), b.loopSite(f))
	if err != nil {
		return nil, nil, nil, nil, err
	}
	literal, err := b.write(fmt.Sprintf("literal-%d.yaml", f.n), b.literalSite(f, yaml))
	if err != nil {
		return nil, nil, nil, nil, err
	}
	return one, many, b.run("loop", loop, allStable(f.n)), b.run("literal", literal, allStable(f.n)), nil
}

// loop measures what one more stable file costs that a loop declares.
func (b *bench) loop() ([]line, error) {
	ns := []int{b.sizes.small, b.sizes.middle, b.sizes.large}
	var floors, scripts, told []*side
	for _, n := range ns {
		f := files{b.mem.path("files"), n}
		fl, err := b.floorStable(f, b.workers)
		if err != nil {
			return nil, err
		}
		script, err := b.write(fmt.Sprintf("loop-%d.lua", n), b.loopSite(f))
		if err != nil {
			return nil, err
		}
		floors, scripts = append(floors, fl), append(scripts, b.run("loop", script, allStable(n)))
		if n > ns[0] {
			told = append(told, b.run("loop", script, allStable(n), "--profile"))
		}
	}
	if err := b.measure(append(append(floors, scripts...), told...)...); err != nil {
		return nil, err
	}
	var lines []line
	for i := range ns[1:] {
		step := func(s []*side, k int) float64 { return perItem(s[i].runs[k], s[i+1].runs[k], ns[i], ns[i+1]) }
		mine := b.paired(func(k int) float64 { return step(scripts, k) })
		least := b.paired(func(k int) float64 { return step(floors, k) })
		lines = append(lines, line{
			Work:  fmt.Sprintf("one more stable file of a loop, from %s to %s", thousands(ns[i]), thousands(ns[i+1])),
			Floor: number(least) + " µs", Lua: number(mine) + " µs", Of: [2]float64{mine / least}, Limits: both(1.5),
			Note: fmt.Sprintf("floor with %d workers, as ccm; a manifest has no loop", b.workers),
		})
	}
	bytes := func(of func(outcome) float64, less, more *side) float64 {
		return (more.median(of)-less.median(of))/float64(ns[2]-ns[1]) - size
	}
	used, most := bytes(inUse, told[0], told[1]), bytes(rss, scripts[1], scripts[2])
	return append(lines,
		line{Work: "its memory beyond its content, in use", Lua: number(used) + " B", Of: [2]float64{used}, Limits: both(2048), Unit: "B",
			Note: "what `--profile` says is in use when all was converged"},
		line{Work: "its memory beyond its content, peak of the process", Lua: number(most) + " B", Of: [2]float64{most}, Limits: both(2048), Unit: "B",
			Note: "with what the garbage collector leaves lying about"},
	), nil
}

// literal measures files that are written out one by one.
func (b *bench) literal() ([]line, error) {
	n := b.sizes.literal
	sizes := []int{n / 2, n, 2 * n}
	var floors, scripts, manifests []*side
	for _, n := range sizes {
		f := files{b.mem.path("files"), n}
		fl, err := b.floorStable(f, 1)
		if err != nil {
			return nil, err
		}
		floors = append(floors, fl)
		for _, in := range []form{lua, yaml} {
			file, err := b.write(fmt.Sprintf("literal-%d.%s", n, in), b.literalSite(f, in))
			if err != nil {
				return nil, err
			}
			s := b.run("literal."+string(in), file, allStable(n))
			if in == lua {
				scripts = append(scripts, s)
			} else {
				manifests = append(manifests, s)
			}
		}
	}
	if err := b.measure(append(append(floors[1:2], scripts...), manifests...)...); err != nil {
		return nil, err
	}
	step := func(s []*side, i, k int) float64 { return perItem(s[i].runs[k], s[i+1].runs[k], sizes[i], sizes[i+1]) }
	one := func(s []*side, i int) float64 { return b.paired(func(k int) float64 { return step(s, i, k) }) }
	growth := func(s []*side) float64 { return one(s, 1) / one(s, 0) }
	each := func(s []*side) string { return number(one(s, 1)) + " µs" }
	return []line{{
		Work:  fmt.Sprintf("%s literal declarations with 1 KiB each", thousands(n)),
		Floor: ms(floors[1]), Lua: ms(scripts[1]), YAML: ms(manifests[1]),
		Of: [2]float64{b.ratio(scripts[1], floors[1]), b.ratio(manifests[1], floors[1])}, Limits: [2]float64{4, 8},
	}, {
		Work: fmt.Sprintf("one more of them beyond %s, against one before", thousands(n)),
		Lua:  each(scripts), YAML: each(manifests), Of: [2]float64{growth(scripts), growth(manifests)}, Limits: both(1.25), Than: "one before",
		Note: fmt.Sprintf("linear is 1; the steps are from %s to %s and on to %s", thousands(sizes[0]), thousands(sizes[1]), thousands(sizes[2])),
	}}, nil
}

// stable measures whole runs that find nothing to do.
func (b *bench) stable() ([]line, error) {
	var lines []line
	for i, n := range []int{b.sizes.small, b.sizes.middle} {
		f := files{b.mem.path("files"), n}
		one, many, script, manifest, err := b.stableSides(f)
		if err != nil {
			return nil, err
		}
		var peers []*side
		for _, p := range b.peers {
			if n <= 1000 || p.fast {
				peers = append(peers, b.peerSide(p, "files", b.mem, fileWork{f}))
			}
		}
		if err := b.measure(append([]*side{one, many, script, manifest}, peers...)...); err != nil {
			return nil, err
		}
		l := line{
			Work:  fmt.Sprintf("%s stable files", thousands(n)),
			Floor: withWorkers(one, many, b.workers), Lua: ms(script), YAML: ms(manifest),
			Of: [2]float64{b.ratio(script, one), b.ratio(manifest, one)}, Limits: both([]float64{2.5, 1.5}[i]),
			Peers: peerTimes(peers),
			Note: fmt.Sprintf("against the floor with %d workers: %s / %s; the manifest writes its files out",
				b.workers, number(b.ratio(script, many)), number(b.ratio(manifest, many))),
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// withWorkers returns the times of a floor with one worker and with several.
func withWorkers(one, many *side, workers int) string {
	return fmt.Sprintf("%s (%d workers: %s)", ms(one), workers, number(many.ms()))
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
