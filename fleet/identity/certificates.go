package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// Validity of certificates, and how long before their end new ones are made. Without the
// certificates of the servers the fleet stops, so they are valid long, and "ccm fleet check" warns
// before the end.
const (
	caYears     = 30
	serverYears = 10
	renewBefore = 180 * 24 * time.Hour
)

// An authority signs the certificates of servers.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority makes an authority. It returns its certificate and its private key as PEM.
func newAuthority(now time.Time) (cert, key []byte, err error) {
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "ccm fleet " + now.UTC().Format(time.DateOnly)},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(caYears, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &pair.PublicKey, pair)
	if err != nil {
		return nil, nil, err
	}
	return encodePair(der, pair)
}

// readAuthority reads the results of newAuthority. The certificate is the first of its file.
func readAuthority(cert, key []byte) (*authority, error) {
	c, err := firstCertificate(cert)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, diag.Expected("a PEM private key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	pair, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !pair.PublicKey.Equal(c.PublicKey) {
		return nil, diag.Mismatch("the private key", "the certificate")
	}
	return &authority{c, pair}, nil
}

// server makes a certificate for a host: as a server to clients, and as server and client to the
// other servers.
func (a *authority) server(host string, now time.Time) (cert, key []byte, err error) {
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: host},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: earlier(now.AddDate(serverYears, 0, 0), a.cert.NotAfter),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &pair.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	return encodePair(der, pair)
}

// stale returns why a server's certificate should be made again, "" if it need not be.
func (a *authority) stale(cert []byte, host string, now time.Time) string {
	c, err := firstCertificate(cert)
	switch {
	case err != nil:
		return err.Error()
	case c.VerifyHostname(host) != nil:
		return "issued for another host"
	case now.Add(renewBefore).After(c.NotAfter):
		return fmt.Sprintf("expires on %s", c.NotAfter.Format(time.DateOnly))
	case c.CheckSignatureFrom(a.cert) != nil:
		return "signed by another authority"
	}
	return ""
}

func firstCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, diag.Expected("a PEM certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func encodePair(der []byte, pair *ecdsa.PrivateKey) (cert, key []byte, err error) {
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		return nil, nil, err
	}
	var c, k bytes.Buffer
	err = errors.Join(pem.Encode(&c, &pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.Encode(&k, &pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return c.Bytes(), k.Bytes(), err
}

// serial returns a random serial number, of 127 bits (RFC 5280, 4.1.2.2: at most 20 octets, positive).
func serial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (Go 1.24)
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b[:])
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
