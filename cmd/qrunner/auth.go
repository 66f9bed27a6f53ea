package main

import (
	"net"
	"time"

	"qrunner/lists/mailauth"
	"qrunner/lists/mailauth/dmarc"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/mailauth/txt"
	"qrunner/locking/fsys"
)

// What is remembered of the DNS, and how long a post waits for one answer.
const (
	dnsNames   = 10_000
	dnsTimeout = 5 * time.Second
)

// auth is what the house knows of signatures and of the policies of mail domains.
type auth struct {
	keys      *keys.Store
	dmarc     *dmarc.Finder
	authority *mailauth.Authority
	// unsubscribe is the secrets of one-click unsubscription.
	unsubscribe *oneclick.Secrets
}

// newAuth asks the host's own resolver.
func newAuth(f fsys.FS) auth {
	k := keys.New(f)
	dns := txt.NewCache(net.DefaultResolver, time.Now, dnsNames, dnsTimeout)
	return auth{
		keys: k, dmarc: dmarc.New(dns, dmarc.Exists(net.DefaultResolver)), authority: mailauth.New(dns, k, time.Now),
		unsubscribe: oneclick.NewSecrets(f, time.Now),
	}
}
