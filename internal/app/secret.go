package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadSecret reads the deployment's secret, 32 bytes, making the file at first start. Two
// processes that start at once agree on one: the file is made whole or not at all.
func LoadSecret(file string) (secret [32]byte, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return secret, fmt.Errorf("make the folder of secret_file: %w", err)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(file); err != nil {
			return secret, fmt.Errorf("make secret_file: %w", err)
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return secret, fmt.Errorf("read secret_file: %w", err)
	}
	if len(text) != len(secret) {
		return secret, fmt.Errorf("secret_file %s must hold exactly %d bytes; it holds %d", file, len(secret), len(text))
	}
	copy(secret[:], text)
	return secret, nil
}

func makeSecret(file string) error {
	fresh, err := os.CreateTemp(filepath.Dir(file), ".secret-*")
	if err != nil {
		return err
	}
	defer os.Remove(fresh.Name())
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	_, err = fresh.Write(secret[:])
	if err := errors.Join(err, fresh.Sync(), fresh.Close()); err != nil {
		return err
	}
	if err := os.Link(fresh.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
