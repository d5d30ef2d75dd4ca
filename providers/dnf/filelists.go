package dnf

import (
	"context"
	"encoding/xml"
	"path"

	"github.com/luaccm/ccm/providers/pkgtool/filelist"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// fileLists returns the files of packages as the cached metadata of repositories have them. A package may be in several
// versions there.
func fileLists(ctx context.Context, v *host.View, packages []string) *resource.FileLists {
	v = v.Recording(nil)
	return resource.NewFileLists(func(l *resource.FileLists) bool {
		missing := make(map[string]bool)
		for _, pkg := range packages {
			missing[pkg] = true
		}
		wanted := func(pkg string) bool { _, ok := missing[pkg]; return ok }
		var repositories []string
		for _, cache := range []string{"/var/cache/dnf", "/var/cache/libdnf5"} {
			if files, err := v.Glob(ctx, cache+"/*/repodata/repomd.xml", safepath.MaxNames); err == nil {
				repositories = append(repositories, files...)
			}
		}
		for _, repomd := range repositories {
			name := filelistsOf(v, repomd)
			if name == "" || readFilelists(v, name, wanted, l, missing) != nil {
				return false // the files of one repository are not known
			}
		}
		for _, is := range missing {
			if is {
				return false
			}
		}
		return len(packages) > 0
	})
}

// filelistsOf returns the cached filelists that the index of a repository names, "" for none.
func filelistsOf(v *host.View, repomd string) string {
	var index struct {
		Data []struct {
			Type     string `xml:"type,attr"`
			Location struct {
				Href string `xml:"href,attr"`
			} `xml:"location"`
		} `xml:"data"`
	}
	text, err := v.ReadFile(repomd)
	if err != nil || xml.Unmarshal(text, &index) != nil {
		return ""
	}
	for _, d := range index.Data {
		name := path.Join(path.Dir(repomd), path.Base(d.Location.Href))
		if there, err := v.Exists(name); d.Type == "filelists" && err == nil && there {
			return name
		}
	}
	return ""
}

func readFilelists(v *host.View, name string, wanted func(string) bool, l *resource.FileLists, missing map[string]bool) error {
	f, err := v.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	last := ""
	return filelist.RPM(name, f, wanted, func(e filelist.Entry) {
		missing[e.Package] = false
		if key := e.Package + " " + e.Version; key != last {
			last = key
			l.AddList(e.Package)
		}
		if e.Path != "" {
			l.Add(e.Package, e.Path, !e.Ghost && !e.Directory)
		}
	})
}
