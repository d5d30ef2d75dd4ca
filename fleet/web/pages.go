package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/runtime/words"
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

// table returns a table of a class with a head.
func table(class string, head ...string) *markup.Element {
	row := markup.New("tr")
	for _, h := range head {
		row.Add(markup.New("th").Say(h))
	}
	return markup.New("table", "class", class).Add(markup.New("thead").Add(row))
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
	return markup.New("table", "class", "numbers").Add(markup.New("thead").Add(row))
}

// row returns a row of texts and elements below some heads, which narrow screens show before each of
// them.
func row(heads []string, cells ...markup.Node) *markup.Element {
	r := markup.New("tr")
	for i, c := range cells {
		r.Add(markup.New("td", "data-head", heads[i]).Add(c))
	}
	return r
}

// outcome returns a word in the color of an outcome.
func outcome(word, of string) *markup.Element {
	return markup.New("span", "class", "o "+class(of)).Say(word)
}

// stateOf returns the state of a rollout in the color of the outcome that is like it.
func stateOf(s signed.RolloutState) *markup.Element {
	of := map[signed.RolloutState]string{signed.Stopped: "failed", signed.Aborted: "failed", signed.Paused: "pending", signed.Rolling: "changed", signed.Done: "stable"}
	return outcome(string(s), of[s])
}

// prose returns a paragraph, with the commands between backquotes as code.
func prose(text string) *markup.Element {
	p := markup.New("p")
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			p.Add(markup.New("code").Say(part))
		} else {
			p.Add(markup.Text(part))
		}
	}
	return p
}

func text(format string, args ...any) markup.Text { return markup.Text(fmt.Sprintf(format, args...)) }

// class is the class of an outcome in the colors of reports.
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
	return p.Add(markup.New("span").Say("of " + words.Count(total, "node")))
}

// whole is the first page.
func whole(f *overview.Fleet) *markup.Element {
	body := markup.New("div").Add(markup.New("h1").Say(words.Count(f.Nodes, "node")))
	if len(f.Foreign) > 0 {
		var names []string
		for _, x := range f.Foreign[:min(len(f.Foreign), maxNames)] {
			names = append(names, x.Node)
		}
		body.Add(markup.New("p", "class", "wrong").Say(fmt.Sprintf("Signed by a key that is not in fleet.json: %s: %s", words.Count(len(f.Foreign), "node"), strings.Join(names, ", "))))
	}
	for _, e := range f.Environments {
		s := markup.New("section").Add(markup.New("h2").Say(e.Name))
		if e.Nodes > 0 {
			s.Add(part.Bar(counts(e.Outcomes)), legend(e.Outcomes, e.Nodes))
		} else {
			s.Add(markup.New("p").Say("No nodes."))
		}
		if e.Rollout != nil {
			done, all := reached(e.Rollout)
			p := markup.New("p").Add(link(fmt.Sprintf("Release %d", e.Rollout.Release), "release", e.Name), markup.Text(": "), stateOf(e.Rollout.State), text(", %d of %s", done, words.Count(all, "node")))
			if n := len(e.Rollout.Unheard()); n > 0 {
				p.Add(text(" (%d %s)", n, overview.Unheard))
			}
			if e.Rollout.Reason != "" {
				p.Add(markup.Text(": " + e.Rollout.Reason))
			}
			s.Add(p)
		}
		if e.Problem != "" {
			s.Add(markup.New("p", "class", "wrong").Say(e.Problem))
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
	heads := []string{"nodes", "resource", "message"}
	rows := markup.New("tbody")
	for _, c := range list[:min(len(list), maxRows)] {
		rows.Add(row(heads, text("%d", len(c.Nodes)), markup.New("div", "class", "resource").Add(link(c.Resource, "failure", c.Resource, c.Message)), long(markup.Text(c.Message))))
	}
	return table("causes", heads...).Add(rows)
}

// nodes is a table of nodes, the most urgent first.
func nodes(list []*overview.Node, now time.Time) *markup.Element {
	heads := []string{"node", "environment", "seen", "release", "outcome", "last run", "failed"}
	rows := markup.New("tbody")
	if len(list) == 0 {
		return prose("No nodes. Enrol a machine with `ccm agent enrol`; `ccm fleet enrol` lists pending requests.")
	}
	list = overview.ByStatus(list, now)
	for _, n := range list[:min(len(list), maxRows)] {
		version, last := "-", "-"
		if n.State != nil && n.State.Release > 0 {
			version = fmt.Sprint(n.State.Release)
		}
		if n.State != nil && !n.State.StartTime.IsZero() {
			last = since(n.State.StartTime, now)
		}
		rows.Add(row(heads, link(n.Name, "node", n.Name), markup.Text(n.Environment), markup.Text(seen(n, now)), markup.Text(version),
			outcome(status(n, now), n.Status(now)), markup.Text(last), long(markup.Text(n.Trouble()))))
	}
	div := markup.New("div").Add(table("nodes", heads...).Add(rows))
	if more := len(list) - maxRows; more > 0 {
		div.Add(prose(fmt.Sprintf("%d more: `ccm fleet nodes` lists them all", more)))
	}
	return div
}

// status returns the status of a node, and what its last run was if it is silent.
func status(n *overview.Node, now time.Time) string {
	switch {
	case n.Silent(now) && n.Outcome() != overview.New:
		return fmt.Sprintf("%s, was %s", overview.Silent, n.Outcome())
	case n.State != nil && n.State.Noop:
		return n.Outcome() + " (noop)"
	}
	return n.Status(now)
}

// long breaks long words at the end of a line.
func long(n markup.Node) *markup.Element { return markup.New("div", "class", "long").Add(n) }

func seen(n *overview.Node, now time.Time) string {
	if n.HeartbeatTime.IsZero() {
		return "never"
	}
	return since(n.HeartbeatTime, now)
}

// since returns how long ago a time is.
func since(t, now time.Time) string {
	switch d := max(now.Sub(t), 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
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
		return markup.New("div").Add(markup.New("h1").Say(e.Name), prose(fmt.Sprintf("No release. Make one with `ccm fleet release %s SITE`.", e.Name)), problems(e.Problem))
	}
	body := markup.New("div").Add(markup.New("h1").Say(fmt.Sprintf("Release %d of %s", a.Release, e.Name)))
	facts := markup.New("dl")
	say := func(what string, value markup.Node) {
		facts.Add(markup.New("dt").Say(what), markup.New("dd").Add(value))
	}
	say("State", stateOf(a.State))
	for _, f := range [][2]string{{"Why", a.Reason}, {"Created", date(a.CreateTime)}, {"Signed by", signedBy(a.SignedBy)}, {"Reason", a.Note}, {"Bundle", a.Bundle}, {"Stage", stageText(a)}, {"Soaks until", date(a.SoakUntil)}} {
		if f[1] != "" {
			say(f[0], markup.Text(f[1]))
		}
	}
	body.Add(problems(a.Problems...))
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
	if a.State == signed.Stopped {
		body.Add(prose(fmt.Sprintf("No further node starts this release. Roll back with `ccm fleet rollback %s`, or resume with `ccm fleet rollout resume %s`.", e.Name, e.Name)))
	}
	for _, s := range a.Stages {
		body.Add(named("Failed in stage "+s.Name, s.FailedNodes), named("Silent in stage "+s.Name, s.SilentNodes))
	}
	if names := a.Unheard(); len(names) > 0 {
		body.Add(named("Never reported", names), prose(unheardText(a)))
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

// signedBy names signers, and says if it is only known which keys they have.
func signedBy(list []author.Signer) string {
	names := author.Authorship{Signers: list}.Names()
	if len(list) > 0 && list[0].Name == "" {
		names += ", not compared with " + identity.SignersFile
	}
	return names
}

// unheardText says what nodes that were never heard of mean for a rollout.
func unheardText(a *release.Assessment) string {
	const why = "These nodes were approved, but their agents never started. "
	if a.WaitsForUnheard() {
		return why + "These are all nodes of the stage, so the rollout waits for one of them or for `ccm fleet rollout next`."
	}
	return why + "The rollout does not wait for them: they apply the release when they start."
}

// stageText returns which stage a rollout is in, and since when.
func stageText(a *release.Assessment) string {
	if a.Stage >= len(a.Stages) {
		return ""
	}
	text := fmt.Sprintf("%d of %d", a.Stage+1, len(a.Stages))
	if !a.Since.IsZero() {
		text += ", since " + date(a.Since)
	}
	return text
}

// problems are documents on the servers that are not believed, and why something cannot be shown.
func problems(list ...string) *markup.Element {
	div := markup.New("div")
	for _, p := range list {
		if p != "" {
			div.Add(markup.New("p", "class", "wrong").Say(p))
		}
	}
	return div
}

// date returns a time in words; "" for none.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
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
	body := markup.New("div").Add(markup.New("h1", "class", "failure").Say(resource), markup.New("pre", "class", "failure").Say(message))
	for _, c := range f.Causes {
		if c.Resource == resource && c.Message == words.FirstLine(message) { // a release has the whole message
			return body.Add(named("Nodes", c.Nodes))
		}
	}
	return body.Add(markup.New("p").Say("No node has this failure now."))
}
