package main

import (
	"fmt"
	"strings"
)

// gruText writes a module of gru.
func gruText(b *bench, w any) string {
	var s strings.Builder
	file := func(path, property, value string) {
		fmt.Fprintf(&s, "f = resource.file.new(%q)\nf.state = \"present\"\nf.mode = tonumber(\"0644\", 8)\nf.owner = %q\nf.group = %q\nf.%s = %q\ncatalog:add(f)\n",
			path, b.user, b.group, property, value)
	}
	switch w := w.(type) {
	case fileWork:
		for i := range w.files.n {
			file(w.files.path(i), "content", content(i))
		}
	case execWork:
		for i, g := range w.guards {
			fmt.Fprintf(&s, "s = resource.shell.new(\"guarded-%d\")\ns.command = \"/bin/true\"\ns.creates = %q\ncatalog:add(s)\n", i, g)
		}
	case bigWork:
		file(w.target, "source", w.source)
	}
	return s.String()
}

// cfengineText writes a policy of CFEngine.
func cfengineText(b *bench, w any) string {
	var s strings.Builder
	fmt.Fprintf(&s, "body common control { bundlesequence => { \"bench\" }; }\n"+
		"body perms own(m) { mode => \"$(m)\"; owners => { %q }; groups => { %q }; rxdirs => \"false\"; }\n", b.user, b.group)
	switch w := w.(type) {
	case emptyWork:
		s.WriteString("bundle agent bench {\n")
	case fileWork:
		s.WriteString("bundle agent bench {\n  files:\n")
		for i := range w.files.n {
			fmt.Fprintf(&s, "    %q\n      create => \"true\",\n      perms => own(\"0644\"),\n      content => %q;\n", w.files.path(i), content(i))
		}
	case execWork:
		s.WriteString("bundle agent bench {\n  commands:\n")
		for i, g := range w.guards { // the argument keeps promises apart
			fmt.Fprintf(&s, "    \"/bin/true %d\"\n      unless => fileexists(%q);\n", i, g)
		}
	case bigWork:
		fmt.Fprintf(&s, "body copy_from digest(from) { source => \"$(from)\"; compare => \"digest\"; }\n"+
			"bundle agent bench {\n  files:\n    %q\n      perms => own(\"0644\"),\n      copy_from => digest(%q);\n", w.target, w.source)
	}
	return s.String() + "}\n"
}

// choriaText writes a manifest of Choria's ccm, which takes what ours takes but
// nothing empty.
func choriaText(b *bench, w any) string {
	switch w := w.(type) {
	case fileWork:
		return b.literalSite(w.files, yaml)
	case execWork:
		return b.execSite(w.guards, yaml)
	case bigWork:
		return b.bigSite(w.source, w.target, yaml)
	}
	return b.execSite([]string{"/"}, yaml)
}

// mgmtText writes code of mgmt, which wants at least one statement.
func mgmtText(b *bench, w any) string {
	var s strings.Builder
	file := func(path, property, value string) {
		fmt.Fprintf(&s, "file %q {\n  state => \"exists\",\n  owner => %q,\n  group => %q,\n  mode => \"0644\",\n  %s => %q,\n}\n",
			path, b.user, b.group, property, value)
	}
	exec := func(i int, guard string) {
		fmt.Fprintf(&s, "exec \"guarded-%d\" {\n  cmd => \"/bin/true\",\n  creates => %q,\n}\n", i, guard)
	}
	switch w := w.(type) {
	case emptyWork:
		exec(0, "/")
	case fileWork:
		for i := range w.files.n {
			file(w.files.path(i), "content", content(i))
		}
	case execWork:
		for i, g := range w.guards {
			exec(i, g)
		}
	case bigWork:
		file(w.target, "source", w.source)
	}
	return s.String()
}

// puppetText writes a manifest of Puppet.
func puppetText(b *bench, w any) string {
	var s strings.Builder
	file := func(path, property, value string) {
		fmt.Fprintf(&s, "file { '%s':\n  ensure => file,\n  owner => '%s',\n  group => '%s',\n  mode => '0644',\n  %s => '%s',\n}\n",
			path, b.user, b.group, property, value)
	}
	switch w := w.(type) {
	case fileWork:
		for i := range w.files.n {
			file(w.files.path(i), "content", content(i))
		}
	case execWork:
		for i, g := range w.guards {
			fmt.Fprintf(&s, "exec { 'guarded-%d':\n  command => '/bin/true',\n  creates => '%s',\n}\n", i, g)
		}
	case bigWork:
		file(w.target, "source", w.source)
	}
	return s.String()
}

// ansibleText writes a playbook with one task for each resource.
func ansibleText(b *bench, w any) string {
	var s strings.Builder
	s.WriteString("- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:")
	copied := func(name, path, property, value string) {
		fmt.Fprintf(&s, "\n    - name: %s\n      copy:\n        dest: %q\n        owner: %s\n        group: %s\n        mode: '0644'\n        %s: %q",
			name, path, b.user, b.group, property, value)
	}
	switch w := w.(type) {
	case emptyWork:
		s.WriteString(" []")
	case fileWork:
		for i := range w.files.n {
			copied(fmt.Sprintf("f%d", i), w.files.path(i), "content", content(i))
		}
	case execWork:
		for i, g := range w.guards {
			fmt.Fprintf(&s, "\n    - name: guarded-%d\n      command:\n        cmd: /bin/true\n        creates: %q", i, g)
		}
	case bigWork:
		copied("big", w.target, "src", w.source)
	}
	return s.String() + "\n"
}
