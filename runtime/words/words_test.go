package words_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/luaccm/ccm/runtime/words"
)

func TestWords(t *testing.T) {
	for _, x := range [][2]string{
		{words.Count(0, "node"), "0 nodes"},
		{words.Count(1, "node"), "1 node"},
		{words.Count(2, "node"), "2 nodes"},
		{words.Count(1, "service is", "services are"), "1 service is"},
		{words.Count(2, "service is", "services are"), "2 services are"},
		{words.FirstLine("one\ntwo"), "one"},
		{words.FirstLine("one"), "one"},
		{words.FirstSentence("A file, i.e. its\n name.  Then more."), "A file, i.e. its name."},
		{words.FirstSentence("One only. "), "One only."},
		{words.FirstSentence("no stop"), "no stop"},
		{words.Shorten("short", 5), "short"},
		{words.Shorten("longer", 5), "lo..."},
		{words.Shorten("aéé", 5), "aéé"},
		{words.Shorten("aééé", 5), "a..."},
		{words.Outcome("stable"), "up to date"},
		{words.Outcome("changed"), "changed"},
		{words.Duration(0), "0s"},
		{words.Duration(time.Minute), "1m"},
		{words.Duration(90 * time.Minute), "1h30m"},
		{words.Duration(time.Hour + time.Second), "1h0m1s"},
		{words.Duration(24 * time.Hour), "24h"},
		{words.Duration(90 * 24 * time.Hour), "90d"},
		{words.Duration(1500 * time.Millisecond), "1.5s"},
	} {
		assert.Equal(t, x[1], x[0])
	}
}
