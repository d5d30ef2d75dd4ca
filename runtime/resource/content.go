package resource

import (
	"strconv"
	"strings"
)

// sizeUnit ends what SizeText returns.
const sizeUnit = " bytes"

// SizeText is how a difference tells a content that is known by its size only.
func SizeText(size int64) string { return strconv.FormatInt(size, 10) + sizeUnit }

// IsSizeText reports whether a side of a difference tells a size only.
func IsSizeText(side string) bool {
	digits, ok := strings.CutSuffix(side, sizeUnit)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// digestPrefix begins what DigestText returns.
const digestPrefix = "sha256:"

// DigestText is how a difference tells a content by its SHA-256, given in hexadecimal:
// the first 16 digits of it, "" for the content of nothing.
func DigestText(sum string) string {
	if len(sum) < 16 {
		return ""
	}
	return digestPrefix + sum[:16]
}

// IsDigestText reports whether a side of a difference tells a content by its digest.
func IsDigestText(side string) bool {
	digits, ok := strings.CutPrefix(side, digestPrefix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// TextLimit is the largest content, in bytes, that is read to be shown as text.
const TextLimit = 1 << 20
