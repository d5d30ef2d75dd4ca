package resources

import (
	"encoding/hex"

	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Checksum is a SHA-256, as 64 hexadecimal digits.
type Checksum string

// UnmarshalText reads 64 hexadecimal digits of any case, with an optional
// sha256: before them.
func (c *Checksum) UnmarshalText(text []byte) error {
	digits := strings.ToLower(strings.TrimSpace(string(text)))
	digits = strings.TrimPrefix(digits, "sha256:")
	if b, err := hex.DecodeString(digits); err != nil || len(b) != 32 {
		return diag.Expected("a SHA-256 of 64 hexadecimal digits").Got("%q", text)
	}
	*c = Checksum(digits)
	return nil
}

// String returns the digits.
func (c Checksum) String() string { return string(c) }

// JSONSchema implements schema.JSONSchemer.
func (Checksum) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^(sha256:)?[0-9a-fA-F]{64}$"}
}
