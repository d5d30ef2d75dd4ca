package luaapi

import "github.com/luaccm/ccm/runtime/resource"

// entries are the resources of a console, with the number of the text that declared each.
type entries struct {
	opts         *Options
	count        int // number of texts evaluated
	byResource   map[*resource.Resource]int
	replacements []Replacement // by the text that is being evaluated
}

// record records the resources of this text.
func (es *entries) record(res *Evaluation) {
	for _, r := range es.opts.Builder.Resources() {
		if _, known := es.byResource[r]; !known {
			es.byResource[r] = es.count
			res.Declared = append(res.Declared, r)
		}
	}
}

// admit adds a resource to the catalog. A different resource of the same ID replaces that of an
// earlier text; within one text it is a mistake, as in a script.
func (es *entries) admit(r *resource.Resource) (*resource.Resource, error) {
	got, err := es.opts.Add(r)
	if err == nil {
		return got, nil
	}
	old := es.opts.Builder.Get(r.ID)
	if old == nil || old.ID != r.ID {
		return nil, err
	}
	if _, earlier := es.byResource[old]; !earlier {
		return nil, err
	}
	es.opts.Builder.Remove(old)
	if got, err = es.opts.Add(r); err == nil {
		es.replacements = append(es.replacements, Replacement{old, r})
	}
	return got, err
}

// replace records that a resource was replaced.
func (es *entries) replace(old, now *resource.Resource) {
	if n, ok := es.byResource[old]; ok {
		delete(es.byResource, old)
		es.byResource[now] = n
		es.replacements = append(es.replacements, Replacement{old, now})
	}
}
