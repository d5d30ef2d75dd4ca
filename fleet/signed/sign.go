package signed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// Sign returns the text of a document with the signature of one key. The kind is filled in.
func Sign(ctx context.Context, doc Document, key signers.Key) ([]byte, error) {
	doc.Head().Protocol = doc.Kind().Protocol
	var payload bytes.Buffer
	enc := json.NewEncoder(&payload)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	// A document that no reader would accept is not signed.
	again := newOf(doc)
	if err := decode(payload.Bytes(), again); err != nil {
		return nil, err
	}
	return add(ctx, payload.Bytes(), nil, doc.Kind(), key)
}

// AddSignature returns the text of a document with the signature of one more key.
func AddSignature(ctx context.Context, text []byte, doc Document, key signers.Key) ([]byte, error) {
	payload, _, err := split(text)
	if err != nil {
		return nil, err
	}
	if err := decode(payload, doc); err != nil {
		return nil, err
	}
	return add(ctx, payload, text[len(payload):], doc.Kind(), key)
}

func add(ctx context.Context, payload, signatures []byte, kind Kind, key signers.Key) ([]byte, error) {
	signature, err := key.Sign(ctx, bytes.NewReader(payload), kind.Namespace)
	if err != nil {
		return nil, fmt.Errorf("signing for %s: %w", kind.Namespace, err)
	}
	if !bytes.HasSuffix(signature, []byte("\n")) {
		signature = append(signature, '\n')
	}
	text := bytes.Join([][]byte{payload, signatures, signature}, nil)
	if len(text) > MaxSize {
		return nil, diag.Exceeds("document", "%d bytes, got %d", MaxSize, len(text))
	}
	return text, nil
}

// newOf returns an empty document of the same kind.
func newOf(doc Document) Document {
	switch doc.(type) {
	case *Release:
		return new(Release)
	case *Rollout:
		return new(Rollout)
	case *Job:
		return new(Job)
	}
	return new(Signers)
}
