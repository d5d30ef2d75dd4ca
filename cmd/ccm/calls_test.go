package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A callKind has functions and arguments for scripts, manifests or templates. Each function is called with each
// argument, many of which are sizes that make the call slow or its result large.
type callKind struct {
	name string // name of the file
	text string // text of the file; %s is the call
	jinja,
	functions, arguments string // one a line; %s in a function is the argument
}

var callKinds = map[string]callKind{
	"lua": {name: "site.lua", text: "local big, long, list, sparse = ('a'):rep(2 ^ 24), ('9'):rep(2 ^ 20), {}, {}\nfor i = 1, 2 ^ 15 do list[i] = 'k' .. i end sparse[2 ^ 20 - 2] = 1\nlocal x = %s", functions: `
		string.rep(%s, 2 ^ 53)
		string.gsub(%s, '.*', ('%%0'):rep(2 ^ 10))
		string.gsub(%s, '', ('%%0'):rep(2 ^ 20))
		string.gsub(%s, '.', big)
		string.find(%s, ('a*'):rep(20) .. 'b')
		string.format('%%2147483647d', %s)
		string.format(('%%s'):rep(2 ^ 20), %s)
		string.byte(%s, 1, -1)
		table.concat(list, %s)
		table.concat({ %s }, '', 1, 2 ^ 53)
		unpack({ %s }, 1, 2 ^ 53)
		tonumber(%s)
		load('return ' .. %s)
		print(unpack(list), %s)
		error(%s)
		str.wrap(%s, 1)
		str.split(%s, '')
		str.pad_start(%s, 2 ^ 53)
		str.nearest(%s, { big })
		str.shell_split(%s)
		tbl.range(1, 2 ^ 53, #%s)
		re.replace(%s, '(a?){1000}b', big)
		re.find_all(%s, '')
		json.decode(%s)
		yaml.decode(%s)
		toml.decode(%s)
		time.format(0, %s)
		time.duration(%s)
		version.compare(%s, big)
		version.deb('1' .. %s, '1' .. %s .. 'b')
		version.rpm(('1.'):rep(2 ^ 20), ('1.'):rep(2 ^ 20) .. %s)
		version.matches(%s, ('< 1,'):rep(2 ^ 18) .. '< 1')
		version.matches('1', ('< 1,'):rep(2 ^ 18) .. %s, 'rpm')
		json.set(%s, 'a', 1)
		json.set(('['):rep(2 ^ 20) .. %s, 'a', 1)
		json.set('{}', ('a.'):rep(2 ^ 20) .. 'b', %s)
		json.remove('{"a":"' .. %s .. '"}', 'a')
		yaml.set(%s, 'a', 1)
		yaml.set(('- '):rep(2 ^ 16) .. 'a', 'a', %s)
		yaml.set(('a: 1\nb: 2\n'):rep(2 ^ 18), 'c', %s)
		yaml.set('{}', ('a.'):rep(2 ^ 20) .. 'b', %s)
		yaml.remove('a: "' .. %s .. '"', 'a')
		yaml.decode_all(('---\n'):rep(2 ^ 20) .. %s)
		yaml.encode({ %s })
		json.encode({ %s, list, list, list })
		toml.encode({ a = %s })
		toml.set(%s, 'a', 1)
		toml.set(('a = 1\n'):rep(2 ^ 18), 'c', %s)
		toml.set('', ('a.'):rep(2 ^ 20) .. 'b', %s)
		toml.remove('a = "' .. %s .. '"', 'a')
		str.lines(%s)
		str.fields(%s)
		str.shell_quote(%s)
		str.capitalize(%s)
		str.dedent(%s)
		str.indent(%s, 1000)
		str.length(%s)
		str.trim(%s, big)
		str.replace(%s, '9', big)
		str.count(%s, '')
		str.cut_last(%s, '9')
		str.pad_end('x', 2 ^ 26, %s)
		hash.sha256(%s)
		hash.hmac('sha1', %s, big)
		base64.decode(%s)
		path.clean(('../'):rep(2 ^ 20) .. %s)
		path.relative(('a/'):rep(2 ^ 20), %s)
		path.match(('*a'):rep(2 ^ 12) .. 'b', %s)
		net.is_address(%s)
		net.split_host_port(%s)
		net.contains(%s, '::1')
		net.host('10.0.0.0/8', #%s)
		net.subnet('::/0', 127, #%s)
		time.parse(%s)
		time.format(0, ('2006'):rep(2 ^ 18) .. %s)
		inspect({ %s, list, list })
		tbl.unique(list)
		tbl.sort(tbl.range(1, 2 ^ 20), function(a, b) return #%s > 0 end)
		tbl.deep_merge(tbl.range(1, 2 ^ 20), { %s })
		fs.glob(('/*'):rep(2 ^ 16) .. %s)
		fs.read(%s)
		fs.list(%s)
		dir.config(%s)
		re.split(%s, '')
		re.escape(%s)
		lookup(%s)
		template.jet(%s)
		template.go(%s)
		template.expand(%s)
		file { '/x', ensure = 'absent', tags = list, require = %s }
		exec { 'x', command = %s }`, arguments: `
		big
		long
		inspect(list)
		tostring(#sparse)`},
	"expression": {name: "site.lua", text: "template.expand([==[${ %s }]==])", functions: `
		len(%s)
		int(%s)
		float(%s)
		upper(%s)
		toJSON(%s)
		fromJSON(%s)
		toBase64(%s)
		fromBase64(%s)
		duration(%s)
		date(%s)
		date("2026-11-22", %s)
		split(%s, "")
		splitAfter(%s, "a")
		join(split(%s, ""), "-")
		replace(%s, "", "b")
		repeat(%s, 9223372036854775807)
		indexOf(%s, "b")
		trim(%s, "ab")
		sum(%s)
		count(%s)
		uniq(%s)
		uniq(1..999999)
		uniq(split(%s, ""))
		lookup(%s)
		template(%s)
		file(%s)
		env[%s]
		Data[%s]
		indexOf(split(%s, ""), "x")
		timezone(%s)
		fromPairs(map(split(%s, ""), [#, #]))
		toPairs({"a": %s})
		take(%s, 1)
		mean(%s)
		sortBy(%s, string(#))
		string(%s)
		trimPrefix(%s, %s)
		hasSuffix(%s, %s)
		lastIndexOf(%s, "b")
		sort(%s)
		reverse(%s)
		flatten(%s)
		median(%s)
		groupBy(%s, string(#))
		reduce(%s, #acc + "a", "")
		%s == %s
		%s in [%s]
		%s matches "(a?){500}b"
		1..(len(%s) * 1000)
		jet(%s)`, arguments: `
		repeat("a", 16000000)
		repeat("9", 1000000)
		("[" + repeat("{\"a\":[]},", 1000000) + "1]")
		(1..99999)
		map(1..3000, [#])`},
	"jet": {name: "site.lua", text: "template.jet([==[[[ %s ]]]==])", functions: `
		len(%s)
		upper(%s)
		html(%s)
		json(%s)
		writeJson(%s)
		to_json(%s)
		to_yaml(%s)
		join(split(%s, ""), "-")
		lower(%s)
		include %s
		include split(%s, "")
		import %s
		template(%s)
		file(%s)
		lookup(%s)
		default(%s, 1)
		exec(%s)
		split(%s, "")
		replace(%s, "", "b", -1)
		repeat(%s, 9223372036854775807)
		indent(%s, 9223372036854775807)
		ints(0, len(%s) * 1000000)
		range %s ]][[ end`, arguments: `
		repeat("a", 16000000)
		repeat("<", 60000000)
		ints(0, 9223372036854775807)`},
	"go template": {name: "site.lua", text: "template.go([==[{{ %s }}]==], { b = ('<'):rep(2 ^ 24), l = tbl.range(1, 2 ^ 17), n = 2 ^ 31 })", functions: `
		printf "%%*d" .n %s
		printf "%%999999999d" %s
		printf "%%q%%q%%x" %s %s %s
		html %s
		js %s
		urlquery %s
		print %s %s %s
		to_json %s
		to_yaml %s
		upper %s
		default %s 1
		slice %s 1
		eq %s %s
		template %s
		join "," %s
		indent .n %s
		range %s }}{{ end`, arguments: `
		.b
		.l`},
	"jinja": {name: "site.cm.yml", text: "file:\n  name: /x\n  ensure: contents\n  type: template\n  contents: t.j\n", jinja: "{{ %s }}", functions: `
		%s|attr('a')
		%s|batch(9223372036854775807)
		%s|batch(1)|list|length
		%s|center(9223372036854775807)
		%s|dictsort
		%s|escape
		%s|filesizeformat
		%s|format(%s)
		%s|groupby('a')
		%s|indent(10000)
		%s|int
		%s|join('-')
		%s|list|length
		%s|map('upper')|join
		%s|map('center', 10000)|list|length
		%s|pprint
		%s|random
		%s|replace('a', 'bbbbbbbb')
		%s|replace('', %s)
		%s|reverse|list|length
		%s|round(9223372036854775807)
		%s|slice(10000)|list|length
		%s|sort|length
		%s|striptags
		%s|sum
		%s|title
		%s|tojson(indent=10000)
		%s|truncate(1)
		%s|unique|list|length
		%s|urlencode
		%s|urlize
		%s|wordcount
		%s|wordwrap(1)
		%s|xmlattr
		%s is divisibleby 0
		%s is in %s
		%s == %s
		%s ~ %s
		%s * 9223372036854775807
		%s[::-1]
		%s.split('')|length
		%s.expandtabs(10000)
		%s.zfill(9223372036854775807)
		%s.format(%s)
		%s.encode('utf-16')
		10 ** (%s|length)
		lipsum(n=10000, min=10000, max=(%s|length))
		range(%s|length, 9223372036854775807)`, arguments: `
		('a' * 16000000)
		('<a href="http://a.b"> ' * 100000)
		(range(100000)|list)`},
}

// TestHostileCalls: one call with any argument ends within the limits of time and memory. CCM_TEST_CALLS=all tries
// all combinations, otherwise one in 31.
func TestHostileCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	const most = 4 << 30 // bytes that are allocated; less is in use at a time
	if os.Getenv("CCM_TEST_CALLS_CHILD") == "" {
		// In a process of its own, because a call that cannot be interrupted goes on after its limit, and its
		// allocations would count for later tests.
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileCalls$", "-test.v")
		cmd.Env = append(os.Environ(), "CCM_TEST_CALLS_CHILD=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Regexp(t, `\d+ calls`, string(out))
		return
	}
	all := os.Getenv("CCM_TEST_CALLS") == "all"
	w := newHostile(t)
	w.timeout = 50 * time.Millisecond
	t.Chdir(w.base)
	lines := func(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }
	number, tried := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(callKinds)) {
		k := callKinds[kind]
		for _, function := range lines(k.functions) {
			for _, argument := range lines(k.arguments) {
				if number++; !all && number%31 != 0 {
					continue
				}
				function, argument = strings.TrimSpace(function), strings.TrimSpace(argument)
				call := strings.ReplaceAll(strings.ReplaceAll(function, "%s", argument), "%%", "%")
				text := k.text
				if k.jinja != "" {
					require.NoError(t, os.WriteFile("t.j", fmt.Appendf(nil, k.jinja, call), 0o600))
				} else {
					text = fmt.Sprintf(k.text, call)
				}
				runtime.GC() // otherwise the next call would collect the garbage of earlier ones
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				begin := time.Now()
				used := processorTime(t)
				_, err := w.load(t, k.name, text)
				// This includes the time of earlier calls that cannot be interrupted.
				require.Less(t, processorTime(t)-used, time.Minute, "%s: %s", kind, call)
				if err != nil {
					sane(t, text, err.Error())
				}
				require.Less(t, time.Since(begin), 10*time.Minute, "%s: %s", kind, call)
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), "%s: %s", kind, call)
				tried++
			}
		}
	}
	t.Logf("%d calls", tried)
}

// processorTime returns the processor time that this process has used.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
