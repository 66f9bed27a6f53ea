package zklock

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"qrunner/locking"
)

// needKazoo skips the test where kazoo is not installed, or fails it where it must be.
func needKazoo(t testing.TB) {
	t.Helper()
	switch err := exec.Command("/usr/bin/python3", "-c", "import kazoo").Run(); {
	case err == nil:
	case os.Getenv("QRUNNER_NEED_PEERS") != "":
		t.Fatal("the Debian package python3-kazoo is not installed")
	default:
		t.Skip("the Debian package python3-kazoo is not installed")
	}
}

// together runs clients of kazoo and of ours on one lock and returns what they count.
func together(t *testing.T, e ensemble, path string, rounds int, kinds []string) (counter, overlaps int) {
	needKazoo(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	folder := t.TempDir()
	file := filepath.Join(folder, "counter")
	if err := os.WriteFile(file, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, kind := range kinds {
		who, what, _ := strings.Cut(kind, " ")
		args := []string{strings.Join(e.Addrs(), ","), path, what, strconv.Itoa(rounds), folder, strconv.Itoa(i)}
		cmd := child(ctx, t, "count", args...)
		if who == "kazoo" {
			cmd = exec.CommandContext(ctx, "/usr/bin/python3", append([]string{"testdata/kazoo_client.py"}, args...)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			cmd.Stderr = t.Output()
		}
		wg.Go(func() {
			out, err := cmd.Output()
			f := strings.Fields(string(out))
			if err != nil || len(f) != 6 || f[0] != "done" || f[3] != "0" {
				t.Errorf("%s: %q %v", kind, out, err)
				return
			}
			n, _ := strconv.Atoi(f[5])
			mu.Lock()
			overlaps += n
			mu.Unlock()
		})
	}
	wg.Wait()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counter, err = strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return counter, overlaps
}

func realKazoo(t *testing.T, e ensemble) {
	counter, _ := together(t, e, "/kazoo/one", 125, []string{
		"kazoo Lock", "kazoo Lock", "kazoo WriteLock", "kazoo WriteLock",
		"qrunner Lock", "qrunner Lock", "qrunner Lock", "qrunner Lock",
	})
	if counter != 1000 {
		t.Errorf("counter %d after 1000 additions", counter)
	}
}

func realKazooReaders(t *testing.T, e ensemble) {
	counter, overlaps := together(t, e, "/kazoo/two", 40, []string{
		"kazoo ReadLock", "kazoo ReadLock", "qrunner ReadLock", "qrunner ReadLock",
		"kazoo WriteLock", "qrunner Lock",
	})
	if counter != 80 || overlaps == 0 {
		t.Errorf("counter %d after 80 additions; %d times readers met", counter, overlaps)
	}
	t.Logf("%d times readers met readers", overlaps)
}

// realTLS puts something in front of a server that speaks TLS.
func realTLS(t *testing.T, e ensemble) {
	cert, pool := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", e.Members[0].Addr)
			if err != nil {
				_ = in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	cfg := e.config("/tls", 0)
	cfg.Servers, cfg.TLS = []string{l.Addr().String()}, &tls.Config{RootCAs: pool}
	lk := open(t, cfg)
	le, err := lk.Lock(context.Background(), listKey, locking.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if err := le.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
	cfg.TLS, cfg.ConnectTimeout = &tls.Config{RootCAs: x509.NewCertPool()}, 2*time.Second
	if _, err := Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown authority: %v", err)
	}
}

// certificate makes one for 127.0.0.1.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
