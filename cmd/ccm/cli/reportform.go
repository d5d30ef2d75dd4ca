package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/report/page"
)

// A ReportForm is a form of report files.
type ReportForm struct {
	Write func(io.Writer, *report.Run) error
	Most  int // see report.Collector
}

// ReportUsage is the usage of the flag --report.
const ReportUsage = "also write a report to `FILE` (.html, or .xml for JUnit)"

// ReportFormOf returns the form of a report file by the end of its name. It is an error if the name has another end, or
// that its directory does not exist.
func ReportFormOf(path string) (ReportForm, error) {
	form, ok := map[string]ReportForm{".html": {page.Write, page.MostRows}, ".htm": {page.Write, page.MostRows}, ".xml": {report.WriteJUnit, 0}}[strings.ToLower(filepath.Ext(path))]
	if !ok {
		return form, diag.At(diag.Pos{},
			fmt.Errorf("--report %s: %w", path, diag.Expected("a file name that ends with .html or .xml (JUnit)")))
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return form, diag.Errorf(diag.Pos{}, "--report %s: %w", path, diag.Not(dir, "a directory"))
	}
	return form, nil
}
