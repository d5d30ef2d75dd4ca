package std

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
)

func hashLibrary() *Library {
	return &Library{
		Name: "hash",
		Doc:  "Digests of text and files, in hexadecimal.",
		Funcs: []Func{{
			Signature: `sha256(text: string): string`,
			Doc:       "Returns the SHA-256 of text.",
			Example:   `hash.sha256("abc"):sub(1, 16)`, Result: `"ba7816bf8f01cfea"`,
			Fn: func(c *call) int { return c.giveStr(digest(sha256.New(), c.str(1))) },
		}, {
			Signature: `sha512(text: string): string`,
			Doc:       "Returns the SHA-512 of text.",
			Example:   `hash.sha512("abc"):sub(1, 16)`, Result: `"ddaf35a193617aba"`,
			Fn: func(c *call) int { return c.giveStr(digest(sha512.New(), c.str(1))) },
		}, {
			Signature: `sha1(text: string): string`,
			Doc:       "Returns the SHA-1 of text. SHA-1 is not secure; use it only for compatibility.",
			Example:   `hash.sha1("abc"):sub(1, 16)`, Result: `"a9993e364706816a"`,
			Fn: func(c *call) int { return c.giveStr(digest(sha1.New(), c.str(1))) },
		}, {
			Signature: `md5(text: string): string`,
			Doc:       "Returns the MD5 of text. MD5 is not secure; use it only for compatibility.",
			Example:   `hash.md5("abc")`, Result: `"900150983cd24fb0d6963f7d28e17f72"`,
			Fn: func(c *call) int { return c.giveStr(digest(md5.New(), c.str(1))) },
		}, {
			Signature: `hmac(algorithm: "sha256"|"sha512"|"sha1"|"md5", key: string, text: string): string`,
			Doc:       "Returns the HMAC of text with a key.",
			Example:   `hash.hmac("sha256", "key", "abc"):sub(1, 16)`, Result: `"9c196e32dc0175f8"`,
			Fn: func(c *call) int {
				return c.giveStr(digest(hmac.New(algorithm(c.str(1)), []byte(c.str(2))), c.str(3)))
			},
		}, {
			Signature: `file(path: string, algorithm?: "sha256"|"sha512"|"sha1"|"md5"): string`,
			Doc:       "Returns the digest of a file, found as by fs.read; SHA-256 by default. A file that fs.read cannot read is an error.",
			Example:   `hash.file("/etc/motd"):sub(1, 16)`, Result: `"0e90e1aa36481e39"`,
			Fn: func(c *call) int {
				_, text := readArg(c, 1, "file")
				return c.giveStr(digest(algorithm(c.str(2))(), text))
			},
		}},
	}
}

// algorithm returns the constructor of the hash with that name.
func algorithm(name string) func() hash.Hash {
	switch name {
	case "sha512":
		return sha512.New
	case "sha1":
		return sha1.New
	case "md5":
		return md5.New
	}
	return sha256.New
}

// digest returns the digest of text by h, in hexadecimal.
func digest(h hash.Hash, text string) string {
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}
