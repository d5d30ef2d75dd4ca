// Package docs holds those pages that the program itself reads: what is declared
// on a page is declared nowhere else.
package docs

import _ "embed" // for the pages

// Facts is facts.md. Its tables say which facts there are and of which type.
//
//go:embed facts.md
var Facts string
