package machine

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/plainsecret"
)

// secretFile returns why a file holds secrets, "" if nothing suggests it. It errs on the side of secrets: a file that is
// left out can be added by hand, a published secret cannot be taken back.
func secretFile(name string, mode uint32, content string) string {
	if reason := generatedReason("secret", strings.ToLower(name)); reason != "" {
		return reason
	}
	if mode&0o004 == 0 && len(content) > 0 && generatedReason("private", name) == "" {
		return "not readable by everybody"
	}
	return secretText(name, content)
}

// A secretForm is a form of a line that secrets have.
type secretForm struct {
	reason string
	form   func() *regexp.Regexp
}

// words of settings whose value is a secret.
const secretWords = `(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|psk|credentials?|(?:api|access|account|auth|private|secret|shared|pre-?shared|encryption|signing|session|master|service|app)[_. -]?key|requirepass|masterauth|bindpw|rootpw|sharedsecret|dsn|connection[_-]?string|community)`

// secretForms are the forms of lines with secrets that package plainsecret does not look for, because they are too
// frequent in texts that hold none.
var secretForms = []secretForm{
	{"a private key", lazyregexp.New(`(?i)-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PRIVATE[ -]KEY-BLOCK|AGE-SECRET-KEY|PuTTY-User-Key-File|OpenVPN Static key`)},
	{"a password", lazyregexp.New(`(?i)[\w.$-]*` + secretWords + `[\w.$-]*["'\]\s]*(?:=>|:=|=|:|,)\s*["']?[^\s"'#;,)}\]]{4,}`)},
	{"a password", lazyregexp.New(`(?i)(?:^|[\s"'_.-])(?:password|passwd|passphrase|secret|token|pass|pwd|psk|pw)["'\]\s]*(?:=>|:=|=|:)\s*["']?[^\s"'#;,)}\]]`)},
	{"a password", lazyregexp.New(`(?i)^[\s#;"']*(?:[\w.-]*_)?` + secretWords + `["']?[ \t]+["']?[^\s"'=:]+["']?(?:[ \t]+\S+)?[ \t]*$`)},
	{"a community of SNMP", lazyregexp.New(`(?i)\b(?:ro|rw|trap)community6?\s+\S|\bcom2sec\S*\s+\S+\s+\S+\s+\S`)},
	{"a password", lazyregexp.New(`(?i)\b(?:login|account|user(?:name)?)\s+\S+\s+(?:password|passwd|pass|secret)\s+\S`)},
	{"a password", lazyregexp.New(`(?i)\b(?:password|passwd|secret|authenticator)\s+\d\s+\S`)},
	{"a password", lazyregexp.New(`(?i)(?:identified\s+(?:with\s+\S+\s+)?by|with\s+(?:encrypted\s+)?password|set\s+password[^'"]*)\s*(?:=\s*)?(?:as\s*)?['"]`)},
	{"a password in an option", lazyregexp.New(`(?i)(?:^|\s)--?(?:[a-z]+-)*(?:password|passwd|passphrase|pass|token|secret|api-?key|access-?key|secret-?key|auth|authkey)[= ]+["']?[^\s"'-]`)},
	{"a password in an option", lazyregexp.New(`(?i)\b(?:mysql\w*|mariadb\S*|sshpass|ldap\w+|7z\w?|zip|unzip|smbclient|xfreerdp|vncviewer|redis-cli|mongo\w*|influx|mosquit+o_\w+)\b.*\s-[pPwW] ?["']?[^\s-]|\bredis-cli\b.*\s-a\s`)},
	{"a password in an option", lazyregexp.New(`(?i)\b(?:curl|wget|http|lftp|smbclient|net)\b.*\s(?:-u|-U|--user|--login)[= ]*["']?[^\s"':%]+[:%]\S`)},
	{"a password in an option", lazyregexp.New(`(?i)\becho\s.*\|\s*(?:sudo\s+-S|passwd|chpasswd|openssl|cryptsetup|docker\s+login)`)},
	{"an authorization", lazyregexp.New(`(?i)\b(?:proxy-)?authorization["']?\s*[:=,]?\s*["']?\S|\b(?:basic|bearer|digest|negotiate)\s+[A-Za-z0-9+/=._~-]{8,}|\bx-[a-z-]*(?:key|token|auth)["']?\s*[:=]`)},
	{"a password in a URL", lazyregexp.New(`(?i)[a-z][a-z0-9+.-]*://[^\s/@"'<>]*:[^\s/@"'<>]+@`)},
	{"a token in a URL", lazyregexp.New(`(?i)[?&](?:[a-z_-]*(?:key|token|secret|sig|signature|password|pass|auth)|code|sas)=[^\s&"']{4,}|hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/|/webhook/|api\.telegram\.org/bot|hc-ping\.com/|webhook\.office\.com`)},
	{"a password hash", lazyregexp.New(`\$(?:0|1|2[abxy]?|3|5|6|7|y|gy|md5|apr1|sha1|argon2[a-z]*|scrypt|pbkdf2[\w-]*|bcrypt[\w-]*|8|9|14)\$[^\s:"']{6,}|\{(?:SSHA|SHA|CRYPT|SMD5|MD5|PBKDF2|ARGON2|BLF)[\w.-]*\}\S{6,}|(?i:SCRAM-SHA-\d+\$)|\*[0-9A-F]{40}\b|\bmd5[0-9a-f]{32}\b|(?i:grub\.pbkdf2)`)},
	{"a password", lazyregexp.New(`(?i)<[\w:-]*` + secretWords + `[\w:-]*(?:\s[^>]*)?>\s*[^<\s]`)},
	{"a password", lazyregexp.New(`(?i)^\s*[^\s:]+:\d*\*?:[^\s:]+:[^\s:]+:\S+$`)},                                             // .pgpass
	{"a password", lazyregexp.New(`(?i)^\s*\[?[\w.-]+\.[a-z]{2,}\]?(?::\w+)?\s+[^\s:]+:[^\s:/]\S*$|^\S+@\S+\s+[^\s:]+:\S+$`)}, // sasl_passwd
	{"a password hash", lazyregexp.New(`^[\w.@-]+:(?:[./0-9A-Za-z]{13}|[0-9a-f]{32}|[^:]+:[0-9a-f]{32})$`)},                   // htpasswd, htdigest
}

// publicBlock matches blocks of public keys and certificates.
var publicBlock = lazyregexp.New(`(?s)-----BEGIN (?:TRUSTED |X509 )?(?:CERTIFICATE|CERTIFICATE REQUEST|NEW CERTIFICATE REQUEST|PUBLIC KEY|RSA PUBLIC KEY|SSH2 PUBLIC KEY|DH PARAMETERS|EC PARAMETERS|X509 CRL|CRL|PGP PUBLIC KEY BLOCK|PGP SIGNATURE)-----.*?-----END [A-Z0-9 ]+-----`)

// publicWord matches ssh public keys.
var publicWord = lazyregexp.New(`(?:ssh-[a-z0-9-]+|ecdsa-[a-z0-9-]+|sk-[a-z0-9@.-]+)\s+AAAA[A-Za-z0-9+/]+={0,3}`)

// uuid matches UUIDs, which name disks. Behind the name of a secret one is found by that name.
var uuid = lazyregexp.New(`(?i)\b(UUID="?)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`)

// harmlessLine matches lines of the forms above that hold no secret: rules of PAM, and values that switch something or
// name a file.
var harmlessLine = lazyregexp.New(`(?i)^\s*-?password\s+(?:required|requisite|sufficient|optional|include|substack|\[[^\]]*\])(?:\s|$)|^\s*(?:[#;]\s*)?[\w.-]+\s*[=: ]\s*"?(?:yes|no|on|off|true|false|none|null|prompt|required|optional)"?\s*;?\s*$|^\s*(?:[#;]\s*)?[\w.-]*(?:file|path|dir|cert|key|socket|certificate_key)\s*[=: ]\s*"?(?:/[\w.-]+){2,}"?\s*;?\s*$`)

// aWord matches words that may be tokens.
var aWord = lazyregexp.New(`[A-Za-z0-9+/_.=-]{20,}`)

// hexWord matches hexadecimal words that may be keys.
var hexWord = lazyregexp.New(`(?i)(?:^|[^0-9a-z-])([0-9a-f]{32,})(?:$|[^0-9a-z-])`)

// secretText returns why a text holds a secret, "" if nothing suggests it. Of a binary text only private keys are found.
func secretText(name, text string) string {
	text = nsswitchLine().ReplaceAllString(text, "")
	if found := plainsecret.Text(name, text); len(found) > 0 {
		return "may hold " + found[0].Kind
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		if bytes.Contains([]byte(text), []byte("PRIVATE KEY")) {
			return "may hold a private key"
		}
		return ""
	}
	text = strings.ReplaceAll(text, "ccm: ignore", "") // a mark of somebody else
	text = strings.ReplaceAll(text, "NOPASSWD:", "")   // a word of sudoers
	text = publicBlock().ReplaceAllString(text, "")
	text = publicWord().ReplaceAllString(text, "")
	text = uuid().ReplaceAllString(text, "")
	text = schemeInProse().ReplaceAllString(text, "$1$2")
	var plain strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		plain.WriteString(strings.TrimLeft(line, "#;/*-! \t")) // an old password in a comment is one, too
		if !strings.HasSuffix(line, "\n") {
			plain.WriteByte('\n')
		}
	}
	// The suffix makes unquoted words values.
	if found := plainsecret.Text("x.conf", plain.String()); len(found) > 0 && !slices.ContainsFunc(found, func(f plainsecret.Finding) bool { return f.Kind == "" }) {
		for _, f := range found {
			if line := lineAt(plain.String(), f.Line); !harmlessLine().MatchString(line) {
				return "may hold " + f.Kind
			}
		}
	}
	for line := range strings.Lines(plain.String() + text) {
		line = strings.TrimRight(line, "\r\n")
		if harmlessLine().MatchString(line) {
			continue
		}
		for _, f := range secretForms {
			if f.form().MatchString(line) {
				return "may hold " + f.reason
			}
		}
		if hexWord().MatchString(line) {
			return "may hold a key"
		}
		if slices.ContainsFunc(aWord().FindAllString(line, -1), isToken) {
			return "may hold a token"
		}
	}
	return ""
}

// lineAt returns a line of a text, counted from 1.
func lineAt(text string, number int) string {
	for line := range strings.Lines(text) {
		if number--; number == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// schemeInProse matches the name of a scheme of HTTP before a word, as in "# Basic Settings" of nginx.conf.
var schemeInProse = lazyregexp.New(`(?m)\b(?:[Bb]asic|[Bb]earer|[Dd]igest|[Nn]egotiate)[ \t]+([A-Z]?[a-z]{1,16})($|[^A-Za-z0-9+/=._~-]|[.] |[.]$)`)

// nsswitchLine matches the line of nsswitch.conf that begins like the assignment of a password.
var nsswitchLine = lazyregexp.New(`(?m)^passwd:(?:[ \t]+(?:files|compat|db|systemd|sss|ldap|nis|nisplus|winbind|extrausers|altfiles|mymachines|\[[A-Za-z!=]*\]))+[ \t]*$`)

// isToken reports whether a word looks random: letters and digits, mixed. A path is random if a part of it is, or has
// capital and small letters and digits, as base64 has.
func isToken(word string) bool {
	if strings.Count(word, "/") < 2 {
		return isMixed(word)
	}
	return slices.ContainsFunc(strings.Split(word, "/"), func(part string) bool {
		return isMixed(part) || strings.ContainsAny(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
			strings.ContainsAny(part, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(part, "0123456789")
	})
}

// isMixed reports whether a word has letters and digits that change often.
func isMixed(word string) bool {
	upper, lower, digit, changes := 0, 0, 0, 0
	last := 0
	for _, c := range word {
		kind := 0
		switch {
		case 'A' <= c && c <= 'Z':
			kind, upper = 1, upper+1
		case 'a' <= c && c <= 'z':
			kind, lower = 2, lower+1
		case '0' <= c && c <= '9':
			kind, digit = 3, digit+1
		}
		if kind != last && kind != 0 { // the next word of a name in words is no change
			changes++
			last = kind
		}
	}
	return digit >= 2 && upper+lower >= 6 && changes >= 8
}
