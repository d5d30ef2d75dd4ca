//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// loop measures what one more stable file costs that a loop declares.
func (b *bench) loop() ([]line, error) {
	ns := []int{b.sizes.small, b.sizes.middle, b.sizes.large}
	var floors, scripts, profiled []*program
	for _, n := range ns {
		f, err := b.files(n)
		if err != nil {
			return nil, err
		}
		floor, err := b.floorFiles(f, b.workers)
		if err != nil {
			return nil, err
		}
		script, err := f.loop(b)
		if err != nil {
			return nil, err
		}
		floors, scripts = append(floors, floor), append(scripts, b.ccmProgram(b.mem, "run", script, allStable(n)))
		profiled = append(profiled, b.ccmProgram(b.mem, "run", script, allStable(n), "--profile"))
	}
	if err := b.measure(slices.Concat(floors, scripts, profiled[1:])...); err != nil {
		return nil, err
	}
	var lines []line
	for i := range ns[1:] {
		mine, least := b.perItem(scripts[i], scripts[i+1], ns[i], ns[i+1]), b.perItem(floors[i], floors[i+1], ns[i], ns[i+1])
		lines = append(lines, line{
			Work:  fmt.Sprintf("one more stable file of a loop, from %s to %s", thousands(ns[i]), thousands(ns[i+1])),
			Floor: number(least) + " µs", Lua: number(mine) + " µs", Value: [2]float64{mine / least}, Limits: both(1.5),
			Note: fmt.Sprintf("floor with %d workers, as ccm; a manifest has no loop", b.workers),
		})
	}
	for _, m := range []struct {
		work, note string
		measure    func(outcome) float64
		programs   []*program
	}{
		{"in use", "what `--profile` says is in use when all was converged", inUse, profiled},
		{"peak of the process", "with what the garbage collector leaves lying about", rss, scripts},
	} {
		each := (m.programs[2].median(m.measure)-m.programs[1].median(m.measure))/float64(ns[2]-ns[1]) - size
		lines = append(lines, line{Work: "its memory beyond its content, " + m.work, Lua: number(each) + " B", Value: [2]float64{each}, Limits: both(2048), Unit: "B", Note: m.note})
	}
	return lines, nil
}

// literal measures files that are written out one by one.
func (b *bench) literal() ([]line, error) {
	n := b.sizes.literal
	sizes := []int{n / 2, n, 2 * n}
	var floor *program
	var ccm [][]*program // by size
	for _, n := range sizes {
		f, err := b.files(n)
		if err != nil {
			return nil, err
		}
		if n == sizes[1] {
			if floor, err = b.floorFiles(f, 1); err != nil {
				return nil, err
			}
		}
		programs, err := b.scripts(fmt.Sprint("literal-", n), f.literal(b.site("file")), func(file string) *program { return b.ccmProgram(b.mem, "run", file, allStable(n)) })
		if err != nil {
			return nil, err
		}
		ccm = append(ccm, programs)
	}
	l, err := b.compare(comparison{
		work: fmt.Sprintf("%s literal declarations with 1 KiB each", thousands(n)), floor: floor, ccm: ccm[1], others: slices.Concat(ccm[0], ccm[2]), limits: [2]float64{4, 8},
	})
	if err != nil {
		return nil, err
	}
	growth := line{
		Work: fmt.Sprintf("one more of them beyond %s, against one before", thousands(n)), Limits: both(1.25), Baseline: "one before",
		Note: fmt.Sprintf("linear is 1; the steps are from %s to %s and on to %s", thousands(sizes[0]), thousands(sizes[1]), thousands(sizes[2])),
	}
	for i, cell := range []*string{&growth.Lua, &growth.YAML} {
		later := b.perItem(ccm[1][i], ccm[2][i], sizes[1], sizes[2])
		*cell, growth.Value[i] = number(later)+" µs", later/b.perItem(ccm[0][i], ccm[1][i], sizes[0], sizes[1])
	}
	return []line{l, growth}, nil
}

// stable measures whole runs that find nothing to do.
func (b *bench) stable() (lines []line, err error) {
	for _, x := range []struct {
		n     int
		limit float64
	}{{b.sizes.small, 2.5}, {b.sizes.middle, 1.5}} {
		f, err := b.files(x.n)
		if err != nil {
			return nil, err
		}
		c := comparison{work: thousands(x.n) + " stable files", limits: both(x.limit), peers: b.peers("files", f.literal(b.site("file")), x.n > 1000)}
		if c.floor, err = b.floorFiles(f, 1); err == nil {
			c.parallel, err = b.floorFiles(f, b.workers)
		}
		if err == nil {
			c.ccm, err = b.fileScripts(f, b.mem, allStable(x.n))
		}
		if err != nil {
			return nil, err
		}
		c.note = func() string {
			return fmt.Sprintf("against the floor with %d workers: %s / %s; the manifest writes its files out", b.workers, number(b.ratio(c.ccm[0], c.parallel)), number(b.ratio(c.ccm[1], c.parallel)))
		}
		l, err := b.compare(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// create measures files that are made, durably, on each file system there is.
func (b *bench) create() (lines []line, err error) {
	for _, p := range []*place{b.mem, b.disk} {
		if p == nil {
			return append(lines, line{Work: "files created on a disk", Note: "there is no other file system here; -disk names one"}), nil
		}
		f := files{p.path("created"), b.sizes.created}
		list, data, err := f.lists(p.dir)
		if err != nil {
			return nil, err
		}
		var floors []*program
		for _, how := range []string{"batch", "each", "none"} {
			floors = append(floors, b.floorProgram(f.n, "create", list, data, fmt.Sprint(size), "1", how))
		}
		c := comparison{
			work: fmt.Sprintf("%s files created, %s", thousands(f.n), p.kind), floor: floors[0], others: floors[1:], limits: both(2.5),
			note: func() string {
				return fmt.Sprintf("the floor syncs once for all of them; with one sync for each file and its directory it takes %s, with none %s. What is told of peers is not durable", ms(floors[1]), ms(floors[2]))
			},
		}
		if c.ccm, err = b.fileScripts(f, p, outcomeCounts{total: f.n, changed: f.n}); err != nil {
			return nil, err
		}
		if p == b.mem {
			c.peers = b.peers("files", f.literal(b.site("file")), false)
		}
		for _, x := range slices.Concat(floors, c.ccm) {
			x.name += ", " + p.kind
			x.fresh(p, f.dir).also(f.checkAll)
		}
		for _, x := range c.peers {
			x.fresh(p, f.dir).also(f.check)
		}
		l, err := b.compare(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// drift measures runs that find one file in a hundred changed.
func (b *bench) drift() ([]line, error) {
	f, err := b.files(b.sizes.middle)
	if err != nil {
		return nil, err
	}
	stable, err := b.floorFiles(f, 1)
	if err != nil {
		return nil, err
	}
	quiet, err := b.fileScripts(f, b.mem, allStable(f.n))
	if err != nil {
		return nil, err
	}
	drifted, err := b.fileScripts(f, b.mem, outcomeCounts{total: f.n, changed: f.drifted()})
	if err != nil {
		return nil, err
	}
	list, data, err := f.lists(b.mem.dir)
	if err != nil {
		return nil, err
	}
	floor := b.floorProgram(f.drifted(), "create", list, data, fmt.Sprint(size), "1", "batch")
	peers := b.peers("files", f.literal(b.site("file")), true)
	for _, p := range slices.Concat([]*program{floor}, drifted, peers) {
		p.name, p.before = p.name+", drifted", f.drift
	}
	// What drifted is repaired by each program before the next one looks.
	if err := errors.Join(b.measure(slices.Concat([]*program{stable}, quiet, []*program{floor}, drifted)...), f.check()); err != nil {
		return nil, err
	}
	if err := errors.Join(b.measure(peers...), f.fill()); err != nil { // whatever they made of it
		return nil, err
	}
	changes := func(k int) float64 { return wall(floor.runs[k]) - wall(stable.runs[k]) }
	least := b.paired(changes)
	time := line{
		Work: fmt.Sprintf("%d of %s files drifted", f.drifted(), thousands(f.n)), Floor: ms(floor), Lua: ms(drifted[0]), YAML: ms(drifted[1]), Limits: both(1.2), Baseline: "all stable", Peers: peerTimes(peers),
		Note: fmt.Sprintf("without what the changes cost the floor, %s ms; all stable: %s / %s", number(least), ms(quiet[0]), ms(quiet[1])),
	}
	read := line{Work: "bytes read meanwhile", Limits: both(2), Note: "without the script, the manifest and the lists of the floor"}
	if floor.median(bytesRead) < 0 {
		return []line{time, {Work: read.Work, Note: "/proc does not tell how much a process reads"}}, nil
	}
	var bytes [3]float64
	for i, p := range []*program{floor, drifted[0], drifted[1]} {
		inputs := p.argv[len(p.argv)-1:]
		if i == 0 {
			inputs = []string{list, data}
		} else {
			time.Value[i-1] = b.paired(func(k int) float64 { return (wall(p.runs[k]) - least) / wall(quiet[i-1].runs[k]) })
		}
		bytes[i] = p.median(bytesRead)
		for _, name := range inputs {
			fi, err := os.Stat(name)
			if err != nil {
				return nil, err
			}
			bytes[i] -= float64(fi.Size())
		}
		*[]*string{&read.Floor, &read.Lua, &read.YAML}[i] = number(bytes[i]/(1<<20)) + " MiB"
	}
	read.Value = [2]float64{bytes[1] / bytes[0], bytes[2] / bytes[0]}
	return []line{time, read}, nil
}
