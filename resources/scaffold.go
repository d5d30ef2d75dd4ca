package resources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ScaffoldType is the type of directories that are rendered from templates.
var ScaffoldType = resource.Define[Scaffold, ScaffoldState, ScaffoldProvider]("scaffold")

// Scaffold renders a directory of templates into a target directory, file by
// file. Templates see facts and data, also as Facts and Data, and the functions
// lookup, render and write. Files in directories named _partials are for render
// only. A file that exists keeps its owner, group and mode. A new one belongs to the user that ccm
// runs as and has the mode of its template, without the permission to write for group and others;
// new directories have 0755. What post sets of a file counts in both cases.
type Scaffold struct {
	// Name is the absolute path of the target directory, without . and .. components.
	Name string `ccm:"name,name,example=/etc/app,kind=path"`
	// Ensure is whether the rendered files exist. With absent, only these files are removed, and
	// directories that become empty.
	Ensure ScaffoldEnsure `ccm:"ensure,default=present"`
	// Source is the directory of the templates. A relative path is relative to the script or manifest
	// with the resource. It is required with ensure absent too, to know the files.
	Source string `ccm:"source,required,example=templates/app,kind=path"`
	// Engine is the language of the templates: jet, in [[ ]], or go, in {{ }} with the functions of
	// Sprig.
	Engine ScaffoldEngine `ccm:"engine,default=jet"`
	// SkipEmpty omits files that are empty, or white space only, after rendering.
	SkipEmpty bool `ccm:"skip_empty"`
	// LeftDelimiter starts code in the templates, instead of the delimiter of the engine. It requires
	// right_delimiter.
	LeftDelimiter string `ccm:"left_delimiter"`
	// RightDelimiter ends code in the templates, instead of the delimiter of the engine. It requires
	// left_delimiter.
	RightDelimiter string `ccm:"right_delimiter"`
	// Parents creates missing directories above the target, with mode 0755 and the user and group that
	// run ccm.
	Parents bool `ccm:"parents,default=true"`
	// Links is what to do with a symbolic link at the path of a rendered file: refuse fails, follow
	// writes the target of the link, replace replaces the link. A link of another user is followed
	// only to files of that user. Links at the path of a directory are refused. With ensure absent,
	// links stay.
	Links FileLinks `ccm:"links,default=refuse"`
	// Purge removes all other files in the target.
	Purge bool `ccm:"purge"`
	// Post lists commands for rendered files, each by a glob pattern for the name of the file without
	// its directory, such as {["*.sh"] = "chmod +x {}"}. {} is replaced by the path; without {} the
	// path is the last argument. The command gets a copy of the file before it is installed. Plans run
	// it too, so it must change only this file. Several patterns in one table apply in alphabetical
	// order.
	Post []map[string]string `ccm:"post,argv"`
}

// A ScaffoldEnsure is a desired value of ensure for a scaffold.
type ScaffoldEnsure string

// The values of ScaffoldEnsure.
const (
	ScaffoldPresent ScaffoldEnsure = "present"
	ScaffoldAbsent  ScaffoldEnsure = "absent"
)

// Values implements schema.Enum.
func (ScaffoldEnsure) Values() []string { return []string{"present", "absent"} }

// A ScaffoldEngine is the language of templates.
type ScaffoldEngine string

// The values of ScaffoldEngine.
const (
	ScaffoldJet ScaffoldEngine = "jet"
	ScaffoldGo  ScaffoldEngine = "go"
)

// Values implements schema.Enum.
func (ScaffoldEngine) Values() []string { return []string{"jet", "go"} }

// ScaffoldState compares the target with the rendered templates. The lists have absolute paths in
// order.
type ScaffoldState struct {
	// Kind is the kind of the entry at the target.
	Kind         safepath.FileKind
	TargetExists bool
	// Changed lists the files that differ from the rendered ones or, unless ensure is absent, are
	// missing.
	Changed []string
	// Missing lists the missing files in Changed.
	Missing []string
	// Ends lists the paths outside the target that links of Changed lead to.
	Ends []string
	// Stable lists the files that are as rendered.
	Stable []string
	// Purged lists the files in the target that were not rendered.
	Purged []string
	// EmptyDirs lists the directories that are removed with the files if ensure is absent, because
	// they will be empty.
	EmptyDirs []string
	// Obstacles lists entries in the place of rendered files that are not replaced, each with its
	// kind.
	Obstacles []string
	Engine    ScaffoldEngine
	Parents
	// NoTemplates is set if the source has no templates.
	NoTemplates bool
	// Rendered is the provider's digest of the rendered files.
	Rendered string
}

// DesiredDigest implements resource.DesiredDigester: the rendered files depend on templates,
// facts and data.
func (s ScaffoldState) DesiredDigest() resource.DesiredDigest {
	return resource.DesiredDigest{Text: s.Rendered}
}

// CurrentEnsure implements resource.StateEnsure.
func (s ScaffoldState) CurrentEnsure() string {
	if s.TargetExists {
		return string(ScaffoldPresent)
	}
	return string(ScaffoldAbsent)
}

// ScaffoldProvider renders scaffolds.
type ScaffoldProvider interface {
	// Status renders the templates elsewhere and compares the result with the target. With ensure
	// absent, Changed and Stable list only existing files.
	Status(ctx context.Context, v *host.View, want Scaffold) (ScaffoldState, error)
	// Scaffold writes the files that differ and, with purge, removes those that were not rendered.
	Scaffold(ctx context.Context, h *host.Host, want Scaffold) error
	// Remove removes the files in Changed and Stable, then the directories that are empty, the
	// deepest first, and the target last.
	Remove(ctx context.Context, h *host.Host, want Scaffold) error
}

// Validate implements resource.Spec.
func (s Scaffold) Validate() error {
	var errs []error
	if err := checkPath("name", s.Name); err != nil {
		errs = append(errs, err)
	} else if s.Name == "/" {
		errs = append(errs, wrong("name", "%w", diag.Expected("a directory below /").Got("/")))
	}
	if s.Source == "" {
		errs = append(errs, wrong("source", "%w", diag.Expected("a path").Got("an empty string")))
	}
	if (s.LeftDelimiter == "") != (s.RightDelimiter == "") {
		missing := "left_delimiter"
		if s.LeftDelimiter != "" {
			missing = "right_delimiter"
		}
		errs = append(errs, wrong(missing, "both left_delimiter and right_delimiter must be set, or neither"))
	}
	for i, step := range s.Post {
		for _, glob := range slices.Sorted(maps.Keys(step)) {
			if err := checkPost(glob, step[glob]); err != nil {
				errs = append(errs, wrong("post", "item %d: %w", i+1, err))
			}
		}
	}
	return errors.Join(errs...)
}

func checkPost(glob, command string) error {
	if glob == "" {
		return diag.Expected("a glob pattern").Got("an empty string")
	}
	if _, err := path.Match(glob, ""); err != nil {
		return diag.Expected("a glob pattern such as *.conf").Got("%q", glob)
	}
	if strings.Contains(glob, "/") {
		return diag.Expected("a pattern for the name without its directory").Got("%q", glob)
	}
	words, err := resource.SplitWords(command)
	switch {
	case err != nil:
		return err
	case len(words) == 0 || words[0] == "":
		return diag.Expected("a command for %s", glob).Got("an empty string")
	}
	return nil
}

// ResolvePaths implements resource.PathResolver. A URL is left as it is.
func (s *Scaffold) ResolvePaths(dir string) {
	if s.Source != "" && !s.SourceIsURL() && !filepath.IsAbs(s.Source) {
		s.Source = filepath.Join(dir, s.Source)
	}
}

// SourceIsURL reports whether the source is a URL and not a path.
func (s Scaffold) SourceIsURL() bool {
	u, err := url.Parse(s.Source)
	return err == nil && u.Scheme != ""
}

// WantedEnsure implements resource.EnsureReporter.
func (s Scaffold) WantedEnsure() string { return string(s.Ensure) }

// SetsWhole implements resource.WholeSetter.
func (s Scaffold) SetsWhole(isNew bool) bool { return isNew }

// ConfinedTo implements resource.EffectBound.
func (s Scaffold) ConfinedTo() (paths []string, tree bool) {
	if s.Links == LinksFollow { // which may lead anywhere
		return nil, false
	}
	return []string{s.Name}, true
}

// Traits implements resource.Characterized: templates see facts and data.
func (Scaffold) Traits() resource.Traits { return resource.Traits{DependsOnData: true} }

// Decide implements resource.Spec.
func (s Scaffold) Decide(have ScaffoldState) (d resource.Decision) {
	switch {
	case have.Kind != safepath.Missing && have.Kind != safepath.Directory:
		d.Err = diag.Expected("a directory").Found("%s, which is not replaced or followed", have.Kind)
		return d
	case s.Ensure == ScaffoldAbsent:
		return s.decideAbsent(have)
	case have.NoTemplates:
		d.Err = diag.None("template in %s", s.Source)
		return d
	case len(have.Obstacles) > 0:
		d.Err = diag.Expected("files and directories").Found("%s, which is not replaced or followed%s", strings.Join(have.Obstacles, ", "), s.linksHint(have))
		return d
	}
	if err := have.parentError(s.Parents); err != nil {
		d.Err = err
		return d
	}
	return s.decidePresent(have)
}

// linksHint names the ways to deal with links in the place of files, "" if none is in the way.
func (s Scaffold) linksHint(have ScaffoldState) string {
	isLink := func(obstacle string) bool { return strings.HasPrefix(obstacle, safepath.Symlink.String()) }
	if s.Links != LinksRefuse || !slices.ContainsFunc(have.Obstacles, isLink) {
		return ""
	}
	return ` (links = "follow" writes the files that links lead to, links = "replace" puts files in the place of links)`
}

func (s Scaffold) decidePresent(have ScaffoldState) (d resource.Decision) {
	if !have.TargetExists {
		d.Add("ensure", string(ScaffoldAbsent), string(ScaffoldPresent))
		have.tellParents(&d)
		d.Effects = append(d.Effects, overlay.PathEffect{Path: s.Name, Kind: safepath.Directory})
	}
	count := len(have.Changed)
	for _, file := range have.Changed {
		what := s.below(file) + " differs"
		if slices.Contains(have.Missing, file) {
			what = resource.MissingPart(s.below(file))
		}
		d.Add("source", what, "rendered")
		d.Effects = append(d.Effects, s.rendered(file)...)
	}
	for _, end := range have.Ends {
		d.Effects = append(d.Effects, overlay.PathEffect{Path: end, Kind: safepath.Regular})
	}
	if s.Purge {
		count += len(have.Purged)
		for _, file := range have.Purged {
			d.Add("purge", s.below(file), "removed")
			d.Effects = append(d.Effects, overlay.PathEffect{Path: file, Kind: safepath.Missing})
		}
	}
	if len(d.Diff) == 0 {
		return d
	}
	d.AddAction("Scaffold", "changed "+scaffoldFiles(count))
	d.Complete = true
	return d
}

func (s Scaffold) decideAbsent(have ScaffoldState) (d resource.Decision) {
	managed := slices.Concat(have.Changed, have.Stable)
	if !have.TargetExists || len(managed) == 0 {
		return d
	}
	slices.Sort(managed)
	for _, file := range managed {
		d.Add("ensure", s.below(file), string(ScaffoldAbsent))
		d.Effects = append(d.Effects, overlay.PathEffect{Path: file, Kind: safepath.Missing})
	}
	count := len(managed)
	if s.Purge { // they are counted, as the specification demands, and stay
		count += len(have.Purged)
	}
	for _, dir := range have.EmptyDirs {
		d.Effects = append(d.Effects, overlay.PathEffect{Path: path.Clean(dir), Kind: safepath.Missing})
	}
	d.AddAction("Remove", "removed "+scaffoldFiles(count))
	d.Complete = true
	return d
}

// below returns a path relative to the target, for people.
func (s Scaffold) below(file string) string { return strings.TrimPrefix(file, s.Name+"/") }

// rendered returns the effects of rendering a file: the file and the directories above it.
func (s Scaffold) rendered(file string) []overlay.PathEffect {
	kind := safepath.Regular
	if before, ok := strings.CutSuffix(file, "/"); ok {
		kind, file = safepath.Directory, before
	}
	list := []overlay.PathEffect{{Path: file, Kind: kind}}
	for dir := path.Dir(file); strings.HasPrefix(dir, s.Name+"/"); dir = path.Dir(dir) {
		list = append(list, overlay.PathEffect{Path: dir, Kind: safepath.Directory})
	}
	return list
}

// Perform implements resource.Spec.
func (s Scaffold) Perform(ctx context.Context, h *host.Host, p ScaffoldProvider, a resource.Action) error {
	switch a.Verb {
	case "Scaffold":
		return p.Scaffold(ctx, h, s)
	case "Remove":
		return p.Remove(ctx, h, s)
	}
	return diag.Unknown("verb of scaffold", a.Verb, nil)
}

func scaffoldFiles(n int) string {
	if n == 1 {
		return "1 scaffold file"
	}
	return fmt.Sprintf("%d scaffold files", n)
}
