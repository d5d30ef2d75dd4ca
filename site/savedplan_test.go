package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/safepath"
)

// aPlan is the text of a saved plan.
const aPlan = planStart + `,"format":1,"ccm_version":"1","time":"2026-01-02T03:04:05Z","directory":"/srv","file":"site.lua","options":{"Root":"/"},"key_digest":"00",` +
	`"resources":[{"id":"file#/a","declaration":"01","outcome":"pending","actions":[{"Verb":"Create","Phrase":"created the file"}],"diff":[{"property":"ensure","have":"absent","want":"present"}]}]}`

func TestParsePlan(t *testing.T) {
	plan, err := parsePlan(aPlan)
	require.NoError(t, err)
	require.Equal(t, "site.lua", plan.File)
	require.Equal(t, "created the file", plan.Resources[0].Actions[0].Phrase)

	resource := aPlan[strings.Index(aPlan, `{"id"`):strings.LastIndex(aPlan, "]")]
	for _, x := range []struct{ old, new, err string }{
		{`"format":1`, `"format":2`, "saved plan has format 2, but this ccm supports 1"},
		{`"file":"site.lua"`, `"file":"-"`, "the plan is damaged: no script or manifest"},
		{`"options":{"Root":"/"}`, `"options":null`, "the plan is damaged: no options"},
		{`"options":{"Root":"/"}`, `"options":{"Rooot":"/"}`, `unknown field "Rooot"`},
		{`"key_digest"`, `"key":"AAAA","key_digest"`, "expected a key of 32 bytes, got 3"},
		{resource, resource + "," + resource, `duplicate "file#/a"`},
		{"}]}", "}]}x", "not a saved plan, or a damaged one"},
		{"}]}", "", "not a saved plan, or a damaged one"},
	} {
		_, err := parsePlan(strings.Replace(aPlan, x.old, x.new, 1))
		require.ErrorContains(t, err, x.err, x.new)
	}
}

// A plan replaces an earlier one of any size: only the head of that is read.
func TestCheckPlanFile(t *testing.T) {
	dir := t.TempDir()
	for name, x := range map[string]struct{ head, err string }{
		"saved": {aPlan, ""},
		"other": {"#!/bin/sh\n", "already exists and is not a saved plan"},
		"short": {planStart[:len(planStart)-1], "already exists and is not a saved plan"},
	} {
		for _, size := range []int64{int64(len(x.head)), safepath.LargestText + 1} {
			file := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(file, []byte(x.head), 0o600))
			require.NoError(t, os.Truncate(file, size))
			err := CheckPlanFile(file, (&Files{AllowInsecure: true}).Trust())
			if x.err == "" {
				require.NoError(t, err, size)
			} else {
				require.ErrorContains(t, err, x.err, size)
			}
		}
	}
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, CheckPlanFile(empty, (&Files{AllowInsecure: true}).Trust()))
}

// FuzzParsePlan reads untrusted plans: each is parsed or refused, and a parsed plan is equal after it was written
// again.
func FuzzParsePlan(f *testing.F) {
	f.Add(aPlan)
	f.Add(planStart + `}`)
	f.Add(planStart + `,"format":1,"resources":` + strings.Repeat("[", 5000))
	f.Add(strings.Replace(aPlan, "file#/a", "\xff", 1))
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := parsePlan(text)
		if err != nil {
			return
		}
		var written, second strings.Builder
		require.NoError(t, plan.write(&written))
		require.True(t, IsSavedPlan(written.String()) || plan.Protocol != planProtocol)
		again, err := parsePlan(written.String())
		require.NoError(t, err)
		require.NoError(t, again.write(&second))
		require.Equal(t, written.String(), second.String())
	})
}
