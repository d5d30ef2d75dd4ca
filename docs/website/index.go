package website

import (
	"bytes"
	"encoding/json"

	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/docs/search"
)

// index returns the index of the search: a script, because a page that is read from a file may
// load scripts beside it and no other data. It is a list of sections: where the section is, the
// title of its page, its heading, its text. The table of synonyms comes with it.
func (b *builder) index() (File, error) {
	var entries [][4]string
	for _, name := range b.order {
		title := ""
		for i, s := range markdown.Parse(b.Text(name)).Sections() {
			if i == 0 {
				title = s.Text
				entries = append(entries, [4]string{name + suffix, title, "", s.Body + search.Answered(name, s)})
				continue
			}
			entries = append(entries, [4]string{name + suffix + "#" + s.Anchor, title, s.Text, s.Body + search.Answered(name, s)})
		}
	}
	var out bytes.Buffer
	out.WriteString("var ccmIndex = ")
	if err := json.NewEncoder(&out).Encode(entries); err != nil { // which escapes < and >
		return File{}, err
	}
	out.WriteString("var ccmSynonyms = ")
	if err := json.NewEncoder(&out).Encode(search.Synonyms()); err != nil {
		return File{}, err
	}
	return File{"index.js", out.Bytes()}, nil
}
