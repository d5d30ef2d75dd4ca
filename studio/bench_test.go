package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// large returns a manifest of n files.
func large(n int) string {
	var y strings.Builder
	y.WriteString("ccm:\n  resources:\n    - file:\n")
	for i := range n {
		fmt.Fprintf(&y, "        - /srv/f%03d:\n            content: \"file %d\\n\"\n            owner: root\n            group: root\n            mode: \"0644\"\n", i, i)
		if i > 0 && i%5 == 0 {
			fmt.Fprintf(&y, "            require: [file#/srv/f%03d]\n", i-5)
		}
	}
	return y.String()
}

// BenchmarkEditIn500 is one edit by a form in a manifest of 500 files, with the check of the text.
func BenchmarkEditIn500(b *testing.B) {
	v := trusted(b, open(b, siteDir(b), map[string]string{"site.yaml": large(500)}))
	st := v.settled("site.yaml")
	for i := 0; b.Loop(); i++ {
		key := fmt.Sprintf("file#/srv/f%03d", i*37%500)
		value, _ := json.Marshal(fmt.Sprintf("x%d", i))
		e := Edit{File: "site.yaml", Rev: st.Rev, Have: st.Serial, Op: "set", Resource: key, Property: "content", Value: value}
		st = State{}
		require.Equal(b, http.StatusOK, v.ask("POST", "/api/edit", e, &st))
	}
}
