package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/secret"
)

// sizeUnit is the end of the texts of SizeText.
const sizeUnit = " bytes"

// SizeText represents a content of which only the size is known, in a difference.
func SizeText(size int64) string { return strconv.FormatInt(size, 10) + sizeUnit }

// IsSizeText reports whether a side of a difference is a text of SizeText.
func IsSizeText(side string) bool {
	digits, ok := strings.CutSuffix(side, sizeUnit)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// digestPrefix is the beginning of the texts of DigestText.
const digestPrefix = "sha256:"

// DigestText represents a content in a difference by the first 16 digits of its SHA-256,
// given in hexadecimal; "" if there is no content.
func DigestText(sum string) string {
	if len(sum) < 16 {
		return ""
	}
	return digestPrefix + sum[:16]
}

// IsDigestText reports whether a side of a difference is a text of DigestText.
func IsDigestText(side string) bool {
	digits, ok := strings.CutPrefix(side, digestPrefix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// TextLimit is the largest content, in bytes, that reports show as text.
const TextLimit = 1 << 20

// MaskContent returns what stands for a content that is secret as a whole. It is the mask of the
// text, which is that of a secret if the content is nothing else. Of a larger content
// than reports show only the digest is known everywhere.
func MaskContent(k *secret.Keeper, text string) string {
	if len(text) > TextLimit {
		sum := sha256.Sum256([]byte(text))
		text = DigestText(hex.EncodeToString(sum[:]))
	}
	return k.Mask(text)
}
