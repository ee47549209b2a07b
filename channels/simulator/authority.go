package simulator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// An authority signs the certificates of the simulated servers.
type authority struct {
	file   string // the certificate, as PEM
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	mu     sync.Mutex
	leaves map[string]*tls.Certificate // guarded by mu; by host
}

// Virtual time begins in the year 2000, so certificates are valid since before then.
func validity() (from, until time.Time) {
	return time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC)
}

// openAuthority reads the authority in dir, or makes it.
func openAuthority(dir string) (*authority, error) {
	keyPEM, _, err := keep(dir, "ca.key", newECKey)
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	key, err := parseECKey(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	certPEM, file, err := keep(dir, "ca.pem", func() ([]byte, error) { return selfSigned(key) })
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	block, _ := pem.Decode(certPEM)
	if block == nil {
		return nil, errors.New("open authority: ca.pem holds no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	return &authority{file: file, cert: cert, key: key, leaves: map[string]*tls.Certificate{}}, nil
}

func (a *authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// server is the TLS of a simulated server: it has a certificate for whatever name it is called by.
func (a *authority) server(protocols ...string) *tls.Config {
	return &tls.Config{NextProtos: protocols, MinVersion: tls.VersionTLS12, GetCertificate: a.leaf}
}

// leaf is the certificate for the name in a greeting; a client that names none means the loopback address.
func (a *authority) leaf(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	host := hello.ServerName
	if leaf := a.leaves[host]; leaf != nil {
		return leaf, nil
	}
	leaf, err := a.sign(host)
	if err == nil {
		a.leaves[host] = leaf
	}
	return leaf, err
}

func (a *authority) sign(host string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from, until := validity()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "simulated provider"},
		NotBefore:    from, NotAfter: until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func selfSigned(key *ecdsa.PrivateKey) ([]byte, error) {
	from, until := validity()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "Tidings simulator"},
		NotBefore:    from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// newECKey makes a P-256 key as PKCS 8 PEM, the form of APNs' .p8 files.
func newECKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return encodeKey(key)
}

func encodeKey(key any) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func parseECKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an ECDSA key")
	}
	return ec, nil
}
