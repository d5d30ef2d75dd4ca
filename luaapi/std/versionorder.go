package std

import (
	"cmp"
	"strings"
)

// compareVersions returns -1 if a is older than b, 1 if it is newer, and 0 if the two
// are the same version.
//
// Both are read from left to right in parts: a hyphen, a dot, a run of digits,
// or a run of anything else. At the first parts that differ, a hyphen is older
// than anything, and a dot older than anything but a hyphen. Two numbers
// compare as numbers, unless one has a leading zero: then, as everything else,
// they compare as text, without regard to case. A version that goes on where
// the other ends is newer.
//
// With ignoreTrailingZeroes, 1.0.0 is the same as 1 and 1.0.0-rc1 as 1-rc1.
func compareVersions(a, b string, ignoreTrailingZeroes bool) int {
	a, b = strings.ToUpper(a), strings.ToUpper(b)
	if ignoreTrailingZeroes {
		a, b = trimZeroes(a), trimZeroes(b)
	}
	wholeA, wholeB := a, b
	for a != "" && b != "" {
		var x, y string
		x, a = versionPart(a)
		y, b = versionPart(b)
		if x == y {
			continue
		}
		return compareVersionParts(x, y)
	}
	return strings.Compare(wholeA, wholeB)
}

// compareVersionParts orders two parts that differ.
func compareVersionParts(x, y string) int {
	for _, low := range []string{"-", "."} {
		switch low {
		case x:
			return -1
		case y:
			return 1
		}
	}
	if isDigit(x[0]) && isDigit(y[0]) && x[0] != '0' && y[0] != '0' && len(x) != len(y) {
		return cmp.Compare(len(x), len(y))
	}
	return strings.Compare(x, y)
}

// versionPart cuts off the first part of s, which is not empty.
func versionPart(s string) (first, rest string) {
	if s[0] == '-' || s[0] == '.' {
		return s[:1], s[1:]
	}
	n := 1
	for n < len(s) && s[n] != '-' && s[n] != '.' && isDigit(s[n]) == isDigit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}

// trimZeroes removes trailing parts .0 from the text before the first hyphen.
func trimZeroes(s string) string {
	number, rest, hyphen := strings.Cut(s, "-")
	for {
		i := strings.LastIndexByte(number, '.')
		if i < 0 || i == len(number)-1 || strings.Trim(number[i+1:], "0") != "" {
			break
		}
		number = number[:i]
	}
	if hyphen {
		return number + "-" + rest
	}
	return number
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
