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

// TextLimit is the largest content, in bytes, that is read to be shown as text.
const TextLimit = 1 << 20
