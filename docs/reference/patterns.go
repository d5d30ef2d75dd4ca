package reference

import "github.com/luaccm/ccm/runtime/lazyregexp"

// blank matches a line that has only blanks.
var blank = lazyregexp.New(`(?m)^ +$`)

// took is the time in the last line of a report.
var took = lazyregexp.New(`(?m)(\d+ resources?: .*|Nothing to do: .*) \([0-9.a-zµ]+\)`)
