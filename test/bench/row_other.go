package main

import (
	"fmt"
	"os"
)

// execs measures commands that need not run, because what they create is there.
func (b *bench) execs() ([]line, error) {
	n := b.sizes.execs
	guards, err := b.guards(n)
	if err != nil {
		return nil, err
	}
	list := ""
	for _, g := range guards {
		list += g + "\n"
	}
	names, err := b.write("guards.list", list)
	if err != nil {
		return nil, err
	}
	sides := []*side{b.floorSide("floor stat", 0, "stat", names, "1")}
	for _, in := range []form{lua, yaml} {
		file, err := b.write("execs."+string(in), b.execSite(guards, in))
		if err != nil {
			return nil, err
		}
		sides = append(sides, b.run("execs."+string(in), file, allStable(n)))
	}
	var peers []*side
	for _, p := range b.peers {
		peers = append(peers, b.peerSide(p, "execs", b.mem, execWork{guards}))
	}
	if err := b.measure(append(sides, peers...)...); err != nil {
		return nil, err
	}
	return []line{{
		Work: fmt.Sprintf("%s execs with `creates`", thousands(n)), Floor: ms(sides[0]), Lua: ms(sides[1]), YAML: ms(sides[2]),
		Of: [2]float64{b.ratio(sides[1], sides[0]), b.ratio(sides[2], sides[0])}, Limits: both(8), Peers: peerTimes(peers),
	}}, nil
}

// bigfile measures a large file that comes from another one: the same, and of
// another size.
func (b *bench) bigfile() ([]line, error) {
	source, target, short := b.mem.path("big.source"), b.mem.path("big.target"), b.mem.path("big.short")
	for _, name := range []string{source, target} {
		if err := bigFile(name, b.sizes.big); err != nil {
			return nil, err
		}
	}
	if err := bigFile(short, b.sizes.big-1); err != nil {
		return nil, err
	}
	defer func() {
		for _, name := range []string{source, target, short} {
			_ = os.Remove(name)
		}
	}()
	one := b.floorSide("floor compare", 0, "compare", source, target, "1")
	many := b.floorSide("floor compare", 0, "compare", source, target, fmt.Sprint(b.workers))
	sizes := b.floorSide("floor sizes", 1, "sizes", source, short)
	sides := []*side{one, many, sizes}
	for _, in := range []form{lua, yaml} {
		file, err := b.write("big."+string(in), b.bigSite(source, target, in))
		if err != nil {
			return nil, err
		}
		other, err := b.write("short."+string(in), b.bigSite(source, short, in))
		if err != nil {
			return nil, err
		}
		sides = append(sides, b.run("big."+string(in), file, allStable(1)), b.plan("short."+string(in), other, counts{total: 1, pending: 1}, "--diff", "off"))
	}
	empty, err := b.write("nothing.lua", "")
	if err != nil {
		return nil, err
	}
	nothing := b.plan("nothing", empty, allStable(0))
	sides = append(sides, nothing)
	var peers []*side
	for _, p := range b.peers {
		peers = append(peers, b.peerSide(p, "big", b.mem, bigWork{source, target}))
	}
	if err := b.measure(append(sides, peers...)...); err != nil {
		return nil, err
	}
	script, shortScript, manifest, shortManifest := sides[3], sides[4], sides[5], sides[6]
	mib := b.sizes.big >> 20
	more := func(s *side) float64 { return (s.median(bytesRead) - nothing.median(bytesRead)) / 1024 }
	l := line{
		Work: fmt.Sprintf("bytes read if the sizes differ, beyond an empty plan (%d MiB)", mib), Floor: "0 KiB",
		Lua: number(more(shortScript)) + " KiB", YAML: number(more(shortManifest)) + " KiB",
		Of: [2]float64{max(1, more(shortScript)), max(1, more(shortManifest))}, Limits: both(64), Unit: "KiB",
		Note: fmt.Sprintf("a plan takes %s / %s then, an empty one %s, the floor %s", ms(shortScript), ms(shortManifest), ms(nothing), ms(sizes)),
	}
	if nothing.median(bytesRead) < 0 {
		l = line{Work: l.Work, Note: "/proc does not tell how much a process reads; " + l.Note}
	}
	return []line{{
		Work: fmt.Sprintf("%d MiB file from a local source, stable", mib), Floor: withWorkers(one, many, b.workers), Lua: ms(script), YAML: ms(manifest),
		Of: [2]float64{b.ratio(script, one), b.ratio(manifest, one)}, Limits: both(1.3), Peers: peerTimes(peers),
	}, l}, nil
}

// order measures what is between the declarations and the catalog.
func (b *bench) order() ([]line, error) {
	n := b.sizes.edges
	guards, err := b.guards(1)
	if err != nil {
		return nil, err
	}
	var sides []*side
	for _, in := range []form{lua, yaml} {
		file, err := b.write("edges."+string(in), b.edgeSite(n, guards[0], in))
		if err != nil {
			return nil, err
		}
		sides = append(sides, b.plan("edges."+string(in), file, allStable(n), "--profile"))
	}
	if err := b.measure(sides...); err != nil {
		return nil, err
	}
	order := func(o outcome) float64 { return phase(o, "order") }
	took := [2]float64{sides[0].median(order), sides[1].median(order)}
	return []line{{
		Work: fmt.Sprintf("%s resources with %s edges: order and references", thousands(n), thousands(3*n)),
		Lua:  number(took[0]) + " ms", YAML: number(took[1]) + " ms", Of: took, Limits: both(50), Unit: "ms",
		Note: "the phase order of `--profile`",
	}}, nil
}
