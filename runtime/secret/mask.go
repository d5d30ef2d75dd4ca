package secret

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
)

// The text that replaces a secret: (secret 1a2b3c4d).
const (
	mask       = "(secret "
	maskDigits = 8
	maskLength = len(mask) + maskDigits + 1
)

// isMask reports whether a text begins with a mask.
func isMask(text string) bool {
	return len(text) >= maskLength && text[:len(mask)] == mask && text[maskLength-1] == ')' &&
		strings.Trim(text[len(mask):maskLength-1], "0123456789abcdef") == ""
}

// KeySize is the number of bytes of a key.
const KeySize = 32

// A key is the key of digests and of sealed files.
type key struct {
	read func() ([]byte, error)
	mu   sync.Mutex
	text []byte
	// masks are the masks that were shown.
	masks map[string]string
}

// Key returns the key: from read, or the random one.
func (k *Keeper) Key() []byte {
	k.key.mu.Lock()
	defer k.key.mu.Unlock()
	return k.key.get()
}

func (k *key) get() []byte {
	if k.text == nil && k.read != nil {
		if text, err := k.read(); err == nil && len(text) == KeySize {
			k.text = text
		}
	}
	if k.text == nil {
		k.text = make([]byte, KeySize)
		_, _ = rand.Read(k.text) // rand.Read never fails
	}
	return k.text
}

// UseKey replaces the key.
func (k *Keeper) UseKey(text []byte) {
	k.key.mu.Lock()
	defer k.key.mu.Unlock()
	k.key.text, k.key.masks = text, nil
}

// longestKept is the maximum length of a text whose mask is kept: masks of values are needed again
// and again, masks of contents once.
const longestKept = 1 << 10

// Mask returns the mask of a text. Line breaks at its end do not count: a value, the line with it in a
// diff and the file that holds nothing else have one mask.
func (k *Keeper) Mask(text string) string {
	text = strings.TrimRight(text, "\r\n")
	k.key.mu.Lock()
	defer k.key.mu.Unlock()
	if m, ok := k.key.masks[text]; ok {
		return m
	}
	m := mask + hex.EncodeToString(k.key.sum("mask", text))[:maskDigits] + ")"
	if len(text) > longestKept {
		return m
	}
	if k.key.masks == nil {
		k.key.masks = make(map[string]string)
	}
	k.key.masks[text] = m
	return m
}

// Digest returns the keyed digest of a text, in hexadecimal. Purpose keeps
// digests for different uses apart.
func (k *Keeper) Digest(purpose, text string) string {
	k.key.mu.Lock()
	defer k.key.mu.Unlock()
	return hex.EncodeToString(k.key.sum(purpose, text))
}

func (k *key) sum(purpose, text string) []byte {
	sub, err := hkdf.Key(sha256.New, k.get(), nil, "ccm "+purpose, KeySize)
	if err != nil {
		panic(err) // the length is one that there is
	}
	mac := hmac.New(sha256.New, sub)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
