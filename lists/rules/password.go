package rules

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// longestPassword is what bcrypt looks at, in octets.
const longestPassword = 72

// HashPassword is a password as it is kept. A hash, and no password at all, stay as they are.
func HashPassword(plain string) (string, error) {
	if plain == "" || hashed(plain) {
		return plain, nil
	}
	if len(plain) > longestPassword {
		return "", fmt.Errorf("hash password: more than %d octets", longestPassword)
	}
	if plain != strings.TrimSpace(plain) {
		return "", errors.New("hash password: blanks around it would be lost in a header")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(plain), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return string(hash), nil
}

func hashed(s string) bool {
	_, err := bcrypt.Cost([]byte(s))
	return err == nil
}

// samePassword compares with what is kept, a hash or (from an older version) plain text.
func samePassword(want, got string) bool {
	if hashed(want) {
		return bcrypt.CompareHashAndPassword([]byte(want), []byte(got)) == nil
	}
	return subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}
