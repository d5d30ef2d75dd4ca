package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/secret"
)

// sizeUnit ends the texts of SizeText.
const sizeUnit = " bytes"

// SizeText represents, in a difference, a content of which only the size is known.
func SizeText(size int64) string { return strconv.FormatInt(size, 10) + sizeUnit }

// IsSizeText reports whether a side of a difference is a text of SizeText.
func IsSizeText(side string) bool {
	digits, ok := strings.CutSuffix(side, sizeUnit)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// digestPrefix begins the texts of DigestText.
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

// MaskContent returns the text that replaces a content which is secret as a whole: the mask of
// the content, or that of a secret which is the whole content. Of a content above TextLimit the
// mask is made of the digest, because only the digest is known everywhere.
func MaskContent(k *secret.Keeper, text string) string {
	if len(text) > TextLimit {
		sum := sha256.Sum256([]byte(text))
		text = DigestText(hex.EncodeToString(sum[:]))
	}
	return k.Mask(text)
}
