package apt

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool/filelist"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Where apt keeps the indexes of repositories and, if the configuration of apt-file is there, the files of
// packages.
const lists = "/var/lib/apt/lists"

var contents = lazyregexp.New(`^(.*)_Contents-([a-z0-9]+)(\.(gz|lz4|zst|xz))?$`)

// A contentsFile is an index with the files of packages.
type contentsFile struct {
	name, label string
	entries     []filelist.Entry
	err         error
}

// fileLists returns the files of the packages that a simulation installs, nil if apt has no index of files.
func fileLists(ctx context.Context, v *host.View, t simulation) *resource.FileLists {
	v = v.Recording(nil)
	return resource.NewFileLists(func(l *resource.FileLists) bool {
		files := contentsFiles(ctx, v)
		packages := make(map[string][]string)
		for _, x := range t.installs {
			pkg, _, _ := strings.Cut(x.pkg, ":")
			packages[pkg] = x.labels
		}
		readContents(v, files, func(f contentsFile, pkg string) bool { return isFrom(packages[pkg], f.label) })
		for _, f := range files {
			seen := make(map[string]bool)
			for _, e := range f.entries {
				if !seen[e.Package] {
					seen[e.Package] = true
					l.AddList(e.Package)
					packages[e.Package] = nil
				}
				l.Add(e.Package, e.Path, isNew(v, e.Package))
			}
			if f.err != nil {
				return false
			}
		}
		for _, unlisted := range packages {
			if unlisted != nil {
				return false
			}
		}
		return len(files) > 0
	})
}

// isFrom reports whether the files of a package may be in the index of a repository with a label. Debian's repository of
// security updates has no index; its packages are those of Debian.
func isFrom(labels []string, label string) bool {
	return slices.ContainsFunc(labels, func(x string) bool { return strings.TrimSuffix(x, "-Security") == label })
}

// isNew reports whether dpkg knows nothing of a package. Otherwise it keeps the removal of a configuration file.
func isNew(v *host.View, pkg string) bool {
	info, err := v.Lstat("/var/lib/dpkg/info/" + pkg + ".list")
	return err == nil && info.Kind == safepath.Missing
}

// contentsFiles returns the indexes with the files of packages.
func contentsFiles(ctx context.Context, v *host.View) (files []*contentsFile) {
	names, err := v.Names(ctx, lists, safepath.MaxNames)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if m := contents().FindStringSubmatch(name); m != nil && m[2] != "source" {
			files = append(files, &contentsFile{name: path.Join(lists, name), label: labelOf(v, names, m[1])})
		}
	}
	return files
}

// labelOf returns the label of the repository of which an index has a name that begins with prefix.
func labelOf(v *host.View, names []string, prefix string) string {
	for ; prefix != ""; prefix = prefix[:max(0, strings.LastIndexByte(prefix, '_'))] {
		for _, kind := range []string{"_InRelease", "_Release"} {
			if !slices.Contains(names, prefix+kind) {
				continue
			}
			text, err := v.ReadFile(path.Join(lists, prefix+kind))
			for line := range strings.Lines(string(text)) {
				if label, ok := strings.CutPrefix(line, "Label: "); ok && err == nil {
					return strings.TrimSpace(label)
				}
			}
			if site, _, _ := strings.Cut(prefix, "_"); site != "" {
				return site
			}
			return "localhost"
		}
	}
	return ""
}

// readContents reads the indexes at the same time.
func readContents(v *host.View, files []*contentsFile, wants func(f contentsFile, pkg string) bool) {
	done := make(chan struct{})
	for _, f := range files {
		go func() {
			defer func() { done <- struct{}{} }()
			file, err := v.Open(f.name)
			if err != nil {
				f.err = err
				return
			}
			defer file.Close()
			f.err = filelist.Contents(f.name, file, func(pkg string) bool { return wants(*f, pkg) }, func(e filelist.Entry) { f.entries = append(f.entries, e) })
		}()
	}
	for range files {
		<-done
	}
}
