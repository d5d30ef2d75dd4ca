//go:build linux

package main

// A group is rows that are measured together: all commands of its loads take turns.
type group struct {
	key   string // for -only
	loads []load
	rows  []row
}

// A load is one piece of work, which each program does: floor, ccm with a site in Lua and
// in YAML, and the peers. Each program is a column. The name of a command has the load and the
// column: stable-1000@lua.
type load struct {
	name  string
	typ   string // of the resources
	n     int    // how many; -quick measures less
	items func(dir string, n int) ([]item, error)
	loop  bool // the script declares its files in a loop; a manifest has none
	disk  bool // the work is done on the disk, not in memory
	oneIn int  // one in oneIn items is not as wanted when a command begins; 0 for none
	// The beginning of the line in which ccm reports the result. N stands for the number of items, M
	// for those that were not as wanted, S for the others. "" is "Nothing to do: N resource", and a line break
	// that it prints nothing.
	says string
	// Words of commands. The words in capitals stand for files and directories.
	floor     map[string]string // by column: floor, and columns for notes
	ccm       string            // runSite if it is ""
	peers     string            // SITE stands for the words of the peer; "" if none takes part
	languages string            // both if it is ""
	first     string            // words of a command of ccm that is run before each time, not measured
	undone    bool              // the command makes the files as they were before the first one
}

// A row is one line of the table. Its expressions are names of loads that are added up, or
// subtracted after a minus sign, each in the column that is looked at, or in that after @.
// A number stands for itself.
type row struct {
	work   string
	cost   string // what is measured
	metric string // wall if it is ""
	unit   string // ms if it is ""
	each   bool   // cost and base are divided by the number of items
	less   string // an expression, subtracted from the cost before the ratio is computed
	base   string // what the cost is divided by; "" for that of floor, 1 if the limit is a cost itself
	than   string // the base in words
	limits [2]float64
	note   string // expressions in braces become milliseconds
}

const (
	onlyLua  = "lua"
	onlyYAML = "yaml"
	aRun     = "a run of the same files"
	runSite  = "run --state-dir STATE SITE"
	planSite = "plan --state-dir STATE --diff off SITE"
	profile  = "run --state-dir STATE --profile SITE"
	undoRun  = "undo --state-dir STATE"

	reportSite = "run --state-dir STATE --report STATE.html SITE"

	installedPackages = `dpkg-query -W -f='${Package} ${db:Status-Status}\n' | sed -n 's/ installed$//p' | sort -u`
	activeServices    = `systemctl list-units --type=service --state=active --plain --no-legend | sed 's/ .*//' | grep -v @`
)

var (
	// For files that are as wanted, with one worker and with as many as ccm has.
	stable  = map[string]string{"floor": "stable LIST DATA 1024 1", "workers": "stable LIST DATA 1024 WORKERS"}
	create  = floorIs("create LIST DATA 1024")
	workers = floorIs("stable LIST DATA 1024 WORKERS")
)

func floorIs(words string) map[string]string { return map[string]string{"floor": words} }

// both is a limit for scripts and manifests alike.
func both(limit float64) [2]float64 { return [2]float64{limit, limit} }

const ofWorkers = "the floor with as many workers as ccm: "

var groups = []group{
	{"empty", []load{
		{name: "empty", typ: "exec", items: nothing, floor: floorIs("nothing"), peers: "SITE"},
		{name: "version", items: nothing, floor: floorIs("nothing"), ccm: "version", says: "ccm", languages: onlyLua, peers: "--version"},
		{name: "lint-empty", typ: "exec", items: nothing, ccm: "lint SITE", says: "\n", languages: onlyLua},
	}, []row{
		{work: "`ccm run` of an empty site", cost: "empty", base: "empty@gructl", than: "gru", limits: both(1.5)},
		{work: "`ccm version`", cost: "version", base: "version@gructl", than: "gru", limits: both(1.5)},
		{work: "`ccm lint` of an empty script", cost: "lint-empty", base: "version", than: "`ccm version`", limits: both(1.5)},
	}},
	{"loop", []load{
		{name: "loop-1000", typ: "file", n: 1000, items: files, loop: true, floor: workers, languages: onlyLua},
		{name: "loop-10000", typ: "file", n: 10_000, items: files, loop: true, floor: workers, languages: onlyLua},
		{name: "loop-100000", typ: "file", n: 100_000, items: files, loop: true, floor: workers, languages: onlyLua},
		{name: "profile-10000", typ: "file", n: 10_000, items: files, loop: true, ccm: profile, languages: onlyLua},
		{name: "profile-100000", typ: "file", n: 100_000, items: files, loop: true, ccm: profile, languages: onlyLua},
	}, []row{
		{work: "one more stable file of a loop, from 1,000 to 10,000", cost: "loop-10000 -loop-1000", each: true, unit: "µs", limits: both(1.5), note: "the floor has as many workers as ccm"},
		{work: "one more stable file of a loop, from 10,000 to 100,000", cost: "loop-100000 -loop-10000", each: true, unit: "µs", limits: both(1.5), note: "as before"},
		{work: "peak of 100,000 of them", cost: "loop-100000", metric: "rss", unit: "MiB", base: "1", limits: both(200)},
		{work: "its memory beyond its content, in use", cost: "profile-100000 -profile-10000", metric: "in use", each: true, unit: "B", less: "1024", base: "1", limits: both(2048),
			note: "in use after the run (`--profile`)"},
		{work: "its memory beyond its content, peak of the process", cost: "loop-100000 -loop-10000", metric: "rss", each: true, unit: "B", less: "1024", base: "1", limits: both(2048),
			note: "with garbage"},
	}},
	{"literal", []load{
		{name: "literal-5000", typ: "file", n: 5000, items: files},
		{name: "literal-10000", typ: "file", n: 10_000, items: files, floor: stable},
		{name: "literal-20000", typ: "file", n: 20_000, items: files},
		{name: "lint-10000", typ: "file", n: 10_000, items: files, ccm: "lint SITE", says: "\n", languages: onlyLua},
	}, []row{
		{work: "10,000 literal declarations with 1 KiB each", cost: "literal-10000", limits: [2]float64{4, 8}},
		{work: "one more of them beyond 10,000, against one before", cost: "literal-20000 -literal-10000", each: true, unit: "µs", base: "literal-10000 -literal-5000", than: "one before", limits: both(1.25),
			note: "linear is 1; the steps are from 5,000 to 10,000 and on to 20,000"},
		{work: "`ccm lint` of 10,000 of them", cost: "lint-10000", metric: "cpu", base: "literal-10000", than: "a run", limits: both(1.5), note: "processor time, of a run too"},
	}},
	{"stable", []load{
		{name: "stable-1000", typ: "file", n: 1000, items: files, loop: true, floor: stable, peers: "SITE"},
		{name: "stable-10000", typ: "file", n: 10_000, items: files, loop: true, floor: stable, peers: "SITE"},
	}, []row{
		{work: "1,000 stable files", cost: "stable-1000", limits: both(2.5), note: ofWorkers + "{stable-1000@workers}"},
		{work: "10,000 stable files", cost: "stable-10000", limits: both(1.5), note: ofWorkers + "{stable-10000@workers}"},
	}},
	{"create", []load{
		{name: "created-memory", typ: "file", n: 1000, items: files, loop: true, oneIn: 1, says: "N resources: N changed", floor: create, peers: "SITE"},
		{name: "created-disk", typ: "file", n: 1000, items: files, loop: true, oneIn: 1, says: "N resources: N changed", floor: create, disk: true},
	}, []row{
		{work: "1,000 files created, in memory", cost: "created-memory", limits: both(2.5), note: "the floor syncs once for all of them, as ccm does; peers do not sync"},
		{work: "1,000 files created, on a disk", cost: "created-disk", limits: both(2.5), note: "as before"},
	}},
	{"drift", []load{
		{name: "all-stable", typ: "file", n: 10_000, items: files, loop: true, floor: stable},
		{name: "drift", typ: "file", n: 10_000, items: files, loop: true, oneIn: 100, says: "N resources: M changed, S up to date", floor: create, peers: "SITE"},
	}, []row{
		{work: "100 of 10,000 files drifted", cost: "drift", less: "drift@floor -all-stable@floor", base: "all-stable", than: "all stable", limits: both(1.2),
			note: "without what the changes cost the floor, {drift@floor -all-stable@floor}; all stable: {all-stable@lua} / {all-stable@yaml}"},
		{work: "bytes read meanwhile", cost: "drift", metric: "read", unit: "MiB", limits: both(2), note: "without the script, the manifest and the lists of the floor"},
	}},
	{"reports", []load{
		{name: "reported", typ: "file", n: 10_000, items: files, loop: true, languages: onlyLua},
		{name: "html", typ: "file", n: 10_000, items: files, loop: true, ccm: reportSite, languages: onlyLua},
		{name: "drift-10000", typ: "file", n: 10_000, items: files, loop: true, first: runSite, ccm: "drift --state-dir STATE", says: "No drift: N resource", languages: onlyLua},
		{name: "show", typ: "file", n: 10_000, items: files, loop: true, oneIn: 1, first: runSite, ccm: "history last --state-dir STATE", says: "run ", languages: onlyLua},
		{name: "diff", typ: "file", n: 10_000, items: files, loop: true, oneIn: 1, first: runSite, ccm: "diff --state-dir STATE", says: "# run", languages: onlyLua},
		{name: "html-100000", typ: "file", n: 100_000, items: files, loop: true, ccm: reportSite, languages: onlyLua},
	}, []row{
		{work: "`run --report FILE.html` of 10,000 stable files", cost: "html", metric: "cpu", base: "reported", than: aRun, limits: both(2), note: "processor time, in the next rows too"},
		{work: "`drift` of 10,000 files", cost: "drift-10000", metric: "cpu", base: "reported", than: aRun, limits: both(2)},
		{work: "`history RUN` of a run that created 10,000 files", cost: "show", metric: "cpu", base: "reported", than: aRun, limits: both(2), note: "a stable run, in the next row too"},
		{work: "`diff` of that run", cost: "diff", metric: "cpu", base: "reported", than: aRun, limits: both(4)},
		{work: "peak of `run --report FILE.html` of 100,000 stable files", cost: "html-100000", metric: "rss", unit: "MiB", base: "1", limits: both(200)},
	}},
	{"undo", []load{
		{name: "replaced-memory", typ: "file", n: 2000, items: files, loop: true, oneIn: 2, says: "N resources: M changed, S up to date", languages: onlyLua},
		{name: "undone-memory", typ: "file", n: 2000, items: files, loop: true, oneIn: 2, first: runSite, ccm: undoRun, says: "M resources: M changed", undone: true, languages: onlyLua},
		{name: "replaced-disk", typ: "file", n: 2000, items: files, loop: true, oneIn: 2, says: "N resources: M changed, S up to date", disk: true, languages: onlyLua},
		{name: "undone-disk", typ: "file", n: 2000, items: files, loop: true, oneIn: 2, first: runSite, ccm: undoRun, says: "M resources: M changed", undone: true, disk: true, languages: onlyLua},
	}, []row{
		{work: "`undo` of 1,000 replaced files, in memory", cost: "undone-memory", base: "replaced-memory", than: "the run", limits: both(1.5)},
		{work: "`undo` of 1,000 replaced files, on a disk", cost: "undone-disk", base: "replaced-disk", than: "the run", limits: both(1.5)},
	}},
	{"packages", []load{
		{name: "packages", typ: "package", n: 200, items: listedItems("present", installedPackages), floor: floorIs("packages LIST")},
	}, []row{
		{work: "200 installed packages", cost: "packages", limits: both(3)},
	}},
	{"services", []load{
		{name: "services", typ: "service", n: 200, items: listedItems("running", activeServices), floor: floorIs("services LIST")},
	}, []row{
		{work: "200 services", cost: "services", limits: both(3)},
	}},
	{"execs", []load{
		{name: "execs", typ: "exec", n: 1000, items: execs, floor: floorIs("stat LIST"), peers: "SITE"},
	}, []row{
		{work: "1,000 execs with `creates`", cost: "execs", limits: both(8)},
	}},
	{"expressions", []load{
		{name: "guarded", typ: "exec", n: 10_000, items: execs, languages: onlyYAML},
		{name: "expressions", typ: "exec", n: 10_000, items: expressions, languages: onlyYAML},
	}, []row{
		{work: "10,000 execs with four expressions each, all different", cost: "expressions", metric: "cpu", base: "guarded", than: "without", limits: both(2), note: "processor time"},
	}},
	{"bigfile", []load{
		{name: "big", typ: "file", n: 256, items: big, floor: floorIs("compare SOURCE TARGET"), peers: "SITE"},
		{name: "short", typ: "file", n: 256, items: short, oneIn: 1, says: "1 resource: 1 pending", ccm: planSite},
		{name: "nothing", typ: "file", items: nothing, ccm: planSite},
	}, []row{
		{work: "256 MiB file from a local source, stable", cost: "big", limits: both(1.3)},
		{work: "bytes read if the sizes differ, beyond an empty plan (256 MiB)", cost: "short -nothing", metric: "read", unit: "KiB", base: "1", limits: both(64),
			note: "a plan takes {short@lua} / {short@yaml} then, an empty one {nothing@lua} / {nothing@yaml}"},
	}},
	{"order", []load{
		{name: "edges", typ: "exec", n: 10_000, items: edges, ccm: "plan --state-dir STATE --profile SITE"},
	}, []row{
		{work: "10,000 resources with 30,000 edges: order and references", cost: "edges", metric: "order", base: "1", limits: both(50), note: "the phase order of `--profile`"},
	}},
}

// A peer is another program that brings machines to a state. Those on PATH are measured.
type peer struct {
	Name   string
	binary string
	suffix string // of its site, by which some peers tell the language
	words  string // of its command
}

var peers = []peer{
	{"gru", "gructl", "lua", "apply --siterepo / SITE"}, // it looks for sources below the repository
	{"CFEngine", "cf-agent", "cf", "-KIf SITE"},
	{"Choria CCM", "choria-ccm", "yaml", "apply SITE"}, // its binary is called ccm, too, and has to be renamed for PATH
	{"Puppet", "puppet", "pp", "apply --vardir STATE SITE"},
	{"Ansible", "ansible-playbook", "yml", "-c local -i localhost, SITE"},
}
