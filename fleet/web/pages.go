package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report/part"
)

// Most rows of a table, and most names of a list, that a person reads.
const (
	maxRows  = 500
	maxNames = 1000
)

// link returns a link to another page. The parts of its address are escaped.
func link(text, page string, parts ...string) *markup.Element {
	to := "#/" + page
	for _, p := range parts {
		to += "/" + url.PathEscape(p)
	}
	return markup.New("a", "href", to).Say(text)
}

// table returns a table with a head.
func table(head ...string) *markup.Element {
	row := markup.New("tr")
	for _, h := range head {
		row.Add(markup.New("th").Say(h))
	}
	return markup.New("table").Add(markup.New("thead").Add(row))
}

// numbers returns a table with numbers in all columns but the first.
func numbers(head ...string) *markup.Element {
	row := markup.New("tr")
	for i, h := range head {
		if i == 0 {
			row.Add(markup.New("th").Say(h))
		} else {
			row.Add(markup.New("th", "class", "n").Say(h))
		}
	}
	return markup.New("table").Add(markup.New("thead").Add(row))
}

// row returns a row of texts and elements.
func row(cells ...markup.Node) *markup.Element {
	r := markup.New("tr")
	for _, c := range cells {
		r.Add(markup.New("td").Add(c))
	}
	return r
}

func text(format string, args ...any) markup.Text { return markup.Text(fmt.Sprintf(format, args...)) }

// class is the class of an outcome in the colours of reports.
func class(outcome string) string {
	switch outcome {
	case "failed", "changed", "stable", "pending", "skipped":
		return outcome
	case "interrupted":
		return "failed"
	}
	return "unknown"
}

// counts returns the outcomes of nodes in the form of reports' counts of resources.
func counts(list []overview.Count) []part.Count {
	var out []part.Count
	for _, c := range list {
		out = append(out, part.Count{Outcome: class(c.Name), Word: c.Name, N: c.N})
	}
	return out
}

// legend returns the counts in words.
func legend(list []overview.Count, total int) *markup.Element {
	p := markup.New("p", "class", "legend")
	for _, c := range list {
		p.Add(markup.New("span", "class", class(c.Name)).Add(markup.New("b"), text("%d %s", c.N, c.Name)))
	}
	return p.Add(markup.New("span").Say(fmt.Sprintf("of %d nodes", total)))
}

// whole is the first page.
func whole(f *overview.Fleet) *markup.Element {
	body := markup.New("div").Add(markup.New("h1").Say(fmt.Sprintf("%d nodes", f.Nodes)))
	if len(f.Foreign) > 0 {
		var names []string
		for _, x := range f.Foreign[:min(len(f.Foreign), maxNames)] {
			names = append(names, x.Node)
		}
		body.Add(markup.New("p", "class", "failed").Say(fmt.Sprintf("%d nodes are not in fleet.json, which does not name the key that signed them: %s", len(f.Foreign), strings.Join(names, ", "))))
	}
	for _, e := range f.Environments {
		s := markup.New("section").Add(markup.New("h2").Say(e.Name))
		if e.Nodes > 0 {
			s.Add(part.Bar(counts(e.Outcomes)), legend(e.Outcomes, e.Nodes))
		} else {
			s.Add(markup.New("p").Say("It has no nodes."))
		}
		if e.Rollout != nil {
			done, all := reached(e.Rollout)
			s.Add(markup.New("p").Add(link(fmt.Sprintf("Release %d", e.Rollout.Release), "release", e.Name), text(": %s, %d of %d nodes. %s", e.Rollout.State, done, all, e.Rollout.Reason)))
		}
		if e.Problem != "" {
			s.Add(markup.New("p", "class", "failed").Say(e.Problem))
		}
		body.Add(s)
	}
	if len(f.Causes) > 0 {
		body.Add(markup.New("section").Add(markup.New("h2").Say("Last failures"), causes(f.Causes)))
	}
	return body.Add(markup.New("section").Add(markup.New("h2").Say("Nodes"), nodes(f.List, f.Time)))
}

// causes is a table of failures, each of which has a page.
func causes(list []overview.Cause) *markup.Element {
	t := table("nodes", "resource", "message")
	rows := markup.New("tbody")
	for _, c := range list[:min(len(list), maxRows)] {
		rows.Add(row(text("%d", len(c.Nodes)), long(link(c.Resource, "failure", c.Resource, c.Message)), long(markup.Text(c.Message))))
	}
	return t.Add(rows)
}

// nodes is a table of nodes, the most urgent first.
func nodes(list []*overview.Node, now time.Time) *markup.Element {
	t := table("node", "environment", "seen", "release", "outcome", "failed")
	rows := markup.New("tbody")
	list = overview.ByStatus(list, now)
	for _, n := range list[:min(len(list), maxRows)] {
		version := "-"
		if n.State != nil && n.State.Release > 0 {
			version = fmt.Sprint(n.State.Release)
		}
		rows.Add(row(link(n.Name, "node", n.Name), markup.Text(n.Environment), markup.Text(seen(n, now)), markup.Text(version),
			markup.New("span", "class", class(n.Status(now))).Say(n.Status(now)), long(markup.Text(trouble(n)))))
	}
	div := markup.New("div").Add(t.Add(rows))
	if more := len(list) - maxRows; more > 0 {
		div.Add(markup.New("p").Say(fmt.Sprintf("%d more: ccm fleet nodes lists them all", more)))
	}
	return div
}

// trouble returns why a node is urgent: its failure, or else its problem.
func trouble(n *overview.Node) string {
	if text := n.Failure(); text != "" || n.State == nil || len(n.State.Problems) == 0 {
		return text
	}
	p := n.State.Problems[0]
	return string(p.Code) + ": " + firstLine(p.Message)
}

// long breaks long words at the end of a line.
func long(n markup.Node) *markup.Element { return markup.New("div", "class", "long").Add(n) }

func seen(n *overview.Node, now time.Time) string {
	if n.HeartbeatTime.IsZero() {
		return "never"
	}
	switch d := max(now.Sub(n.HeartbeatTime), 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
}

// reached returns how many nodes have a release, and how many are to have it.
func reached(a *release.Assessment) (done, all int) {
	for _, s := range a.Stages {
		done, all = done+s.Done, all+s.Nodes
	}
	return done, all
}

// rollout is the page of the release of an environment.
func rollout(e *overview.Environment) *markup.Element {
	a := e.Rollout
	if a == nil {
		return markup.New("div").Add(markup.New("h1").Say(e.Name), markup.New("p").Say("There is no release. "+e.Problem))
	}
	body := markup.New("div").Add(markup.New("h1").Say(fmt.Sprintf("Release %d of %s", a.Release, e.Name)))
	facts := markup.New("dl")
	for _, f := range [][2]string{{"State", string(a.State)}, {"Why", a.Reason}, {"Bundle", a.Bundle}} {
		if f[1] != "" {
			facts.Add(markup.New("dt").Say(f[0]), markup.New("dd").Say(f[1]))
		}
	}
	if !a.SoakUntil.IsZero() {
		facts.Add(markup.New("dt").Say("Soaks until"), markup.New("dd").Say(a.SoakUntil.Local().Format(time.DateTime)))
	}
	t, rows := numbers("stage", "nodes", "done", "changed", "failed", "silent", "waiting"), markup.New("tbody")
	for i, s := range a.Stages {
		attrs := []string{}
		if i == a.Stage {
			attrs = []string{"class", "now"}
		}
		r := markup.New("tr", attrs...).Add(markup.New("td").Say(s.Name))
		for _, n := range []int{s.Nodes, s.Done, s.Changed, s.Failed, s.Silent, s.Waiting} {
			r.Add(markup.New("td", "class", "n").Say(fmt.Sprint(n)))
		}
		rows.Add(r)
	}
	body.Add(facts, t.Add(rows))
	for _, s := range a.Stages {
		body.Add(named("Failed in "+s.Name, s.FailedNodes), named("Silent in "+s.Name, s.SilentNodes))
	}
	if len(a.Causes) > 0 {
		var list []overview.Cause
		for _, c := range a.Causes {
			list = append(list, overview.Cause(c))
		}
		body.Add(markup.New("h2").Say("Why nodes failed"), causes(list))
	}
	return body
}

// named is a list of nodes; an empty element if there are none.
func named(what string, names []string) *markup.Element {
	div := markup.New("div")
	if len(names) == 0 {
		return div
	}
	p := markup.New("p", "class", "names")
	for _, n := range names[:min(len(names), maxNames)] {
		p.Add(link(n, "node", n), markup.Text(" "))
	}
	return div.Add(markup.New("h2").Say(fmt.Sprintf("%s: %d", what, len(names))), p)
}

// failure is the page of one failure, across nodes.
func failure(f *overview.Fleet, resource, message string) *markup.Element {
	body := markup.New("div").Add(markup.New("h1").Say(resource), markup.New("pre", "class", "err").Say(message))
	for _, c := range f.Causes {
		if c.Resource == resource && c.Message == message {
			return body.Add(named("Nodes", c.Nodes))
		}
	}
	return body.Add(markup.New("p").Say("No node has this failure any more."))
}
