package repl

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/words"
)

// stringItems returns the completions in the string at the cursor, and their start.
func (cm *completer) stringItems(c *cursor, start int) (int, []Item) {
	p := c.value()
	switch fn := c.function(); {
	case p != nil && isReference(p):
		return start, append(cm.referenceItems(), cm.pathItems(c.word)...)
	case p != nil && len(p.Values) > 0:
		var items []Item
		for _, v := range p.Values {
			items = append(items, Item{v, "", groupValues})
		}
		return start, items
	case p != nil && p.Name == "provider" && c.top().typ != nil:
		var items []Item
		for _, name := range cm.env.registry.ProviderNames(c.top().typ) {
			items = append(items, Item{name, "", groupValues})
		}
		return start, items
	case fn == "fact":
		return start, cm.factItems(c.word)
	case fn == "require":
		return start, cm.moduleItems(c.word)
	case fn == "state":
		return start, append(cm.referenceItems(), cm.pathItems(c.word)...)
	}
	if t := c.typeOfName(cm.env.constructed); t != nil {
		var items []Item
		for _, r := range cm.env.builder.Resources() {
			if r.Type.Name == t.Name {
				items = append(items, Item{r.ID.Name, "declared at " + r.Pos.String(), groupResources})
			}
		}
		return start, append(items, cm.pathItems(c.word)...)
	}
	if strings.Contains(c.word, "#") {
		return start, append(cm.referenceItems(), cm.pathItems(c.word)...)
	}
	return start, cm.pathItems(c.word)
}

// isReference reports whether the values of a property are resources.
func isReference(p *schema.Field) bool {
	for i := range resource.CommonSchema().Fields {
		if f := &resource.CommonSchema().Fields[i]; f.Name == p.Name {
			return f.Elem != nil && f.Elem.Object == nil
		}
	}
	return false
}

// referenceItems returns the resources that were declared, and the types for
// others.
func (cm *completer) referenceItems() (items []Item) {
	for _, r := range cm.env.builder.Resources() {
		items = append(items, Item{r.ID.String(), "declared at " + r.Pos.String(), groupResources})
	}
	for _, t := range cm.env.registry.Types() {
		items = append(items, Item{t.Name + "#", words.FirstSentence(t.Schema().Doc), groupTypes})
	}
	return items
}

// pathItems returns the files in the directory that a path has got to. The path
// may be the name in a reference, as in file#/etc/.
func (cm *completer) pathItems(word string) (items []Item) {
	head := ""
	if at := strings.IndexByte(word, '#'); at >= 0 && cm.env.typeNamed(word[:at]) != nil {
		head, word = word[:at+1], word[at+1:]
	}
	if !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") {
		return nil
	}
	dir, _ := path.Split(word)
	for _, name := range cm.env.opts.ListDir(dir) {
		items = append(items, Item{head + dir + name, "", groupFiles})
	}
	return items
}

// factItems returns the facts below the last dot of a path.
func (cm *completer) factItems(word string) (items []Item) {
	dot := strings.LastIndexByte(word, '.')
	if dot < 0 {
		for _, name := range cm.env.facts.Names() {
			items = append(items, Item{name, factLine(cm.env.facts, name), groupFacts})
		}
		return items
	}
	val, err := cm.env.facts.Get(word[:dot])
	branch, ok := val.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(branch)) {
		items = append(items, Item{word[:dot+1] + name, short(branch[name]), groupFacts})
	}
	return items
}

// moduleItems returns the modules that ship with ccm and the modules next to the script.
func (cm *completer) moduleItems(word string) (items []Item) {
	for _, t := range cm.manual.topics() {
		if t.library {
			items = append(items, Item{"std." + t.name, words.FirstSentence(t.doc), groupModules})
		}
	}
	for _, name := range cm.env.opts.Modules() {
		items = append(items, Item{name, "a module in the lock file", groupModules})
	}
	dir, _ := path.Split(strings.ReplaceAll(word, ".", "/"))
	for _, from := range []string{"./lib/", "./"} {
		for _, name := range cm.env.opts.ListDir(from + dir) {
			if base, ok := strings.CutSuffix(name, ".lua"); ok && luadata.IsName(base) {
				items = append(items, Item{strings.ReplaceAll(dir, "/", ".") + base, "", groupModules})
			}
		}
	}
	return items
}
