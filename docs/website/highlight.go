package website

import (
	"html/template"
	"regexp"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// syntax has a pattern for each language whose code is highlighted. A named group is a token, and its name the class of
// the token: c a comment, s a string, k a keyword, n a number or constant, p a key or variable, f a function. The unnamed
// group is a word without a class. What follows a group in the pattern is only looked at.
//
// The patterns are short and not exact: a token that is not recognized is plain text. The lexers of chroma would add
// 4.8 MB to the program and 7 ms to each start.
var syntax = sync.OnceValue(func() map[string]*regexp.Regexp {
	lua := regexp.MustCompile(`(?P<c>--\[\[(?s:.*?)\]\]|--.*)` +
		`|(?P<s>"(?:\\(?s:.)|[^"\\\n])*"|'(?:\\(?s:.)|[^'\\\n])*'|\[\[(?s:.*?)\]\]|\[=\[(?s:.*?)\]=\])` +
		`|(?P<k>and|break|do|else|elseif|end|for|function|if|in|local|not|or|repeat|return|then|until|while)\b` +
		`|(?P<n>(?:true|false|nil|0x[[:xdigit:]]+|[0-9]+(?:\.[0-9]+)?)\b)` +
		`|(?P<p>[A-Za-z_]\w*)\s*=\s|(?P<f>[A-Za-z_][\w.:]*)\s*(?:[{("']|\[\[)|(\w+)`)
	yaml := regexp.MustCompile(`(?:^|\s)(?P<c>#.*)` +
		`|(?P<p>"[^"\n]*"|'[^'\n]*'|[^\s"'#,{}\[\]|>&*!-][^\n"'#,{}\[\]]*?):(?:\s|$)` +
		`|(?P<s>"(?:\\(?s:.)|[^"\\])*"|'[^']*')` +
		`|(?P<n>true|false|null|[0-9]+(?:\.[0-9]+)?)(?:[\s,}\]]|$)|([^\s"'#,{}\[\]-][^\s,{}\[\]]*)`)
	shell := regexp.MustCompile(`(?:^|\s)(?P<c>#.*)|(?P<s>"(?:\\(?s:.)|[^"\\])*"|'[^']*')|(?P<p>\$(?:\w+|\{[^}]*\}|[#?@*!$-]))` +
		`|(?P<k>if|then|elif|else|fi|for|in|do|done|while|case|esac|set|export|trap|return)(?:[\s;]|$)` +
		`|([^\s"'$;&|()<>#][^\s"'$;&|()<>]*)`)
	return map[string]*regexp.Regexp{"lua": lua, "yaml": yaml, "sh": shell}
})

// prompt is what a command of a console begins with.
var prompt = lazyregexp.New(`^[\w.@-]*[$#] `)

// highlighted returns code as HTML, with the class of each token that is known.
func highlighted(language, code string) string {
	switch {
	case language == "console", language == "" && prompt().MatchString(code):
		return console(code)
	case syntax()[language] != nil:
		return tokens(syntax()[language], code)
	}
	return template.HTMLEscapeString(code)
}

// console returns commands with their prompts, and what they print.
func console(code string) string {
	var out strings.Builder
	for line := range strings.Lines(code) {
		text, end := strings.CutSuffix(line, "\n")
		if p := prompt().FindString(text); p != "" {
			out.WriteString(span("g", template.HTMLEscapeString(p)) + span("cmd", tokens(syntax()["sh"], text[len(p):])))
		} else {
			out.WriteString(template.HTMLEscapeString(text))
		}
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func tokens(pattern *regexp.Regexp, code string) string {
	var out strings.Builder
	for {
		m := pattern.FindStringSubmatchIndex(code)
		if m == nil {
			return out.String() + template.HTMLEscapeString(code)
		}
		for i, class := range pattern.SubexpNames() {
			from, to := m[2*i], m[2*i+1]
			if i == 0 || from < 0 {
				continue
			}
			text := template.HTMLEscapeString(code[from:to])
			if class != "" {
				text = span(class, text)
			}
			out.WriteString(template.HTMLEscapeString(code[:from]) + text)
			code = code[to:]
			break
		}
	}
}

// span returns HTML in an element of a class.
func span(class, html string) string { return `<span class="` + class + `">` + html + `</span>` }
