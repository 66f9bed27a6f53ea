package hosts

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Identity says which process of which machine somebody is, well enough for another
// process of the same machine to tell whether it is still there.
type Identity struct {
	// Host is the name that this machine goes by on the share. See ValidName.
	Host string
	// Boot is the kernel's boot id: another one means another machine, or the
	// same one after a restart.
	Boot string
	// PID is the process, as numbered in its own pid namespace.
	PID int
	// PIDNS names that namespace; "" means unknown.
	PIDNS string
	// StartTicks is when the process began, in clock ticks since the boot; with
	// PID it names one process, numbers being reused. 0 means unknown.
	StartTicks uint64
	// Nonce is 64 random bits in hex, made anew for each Identity.
	Nonce string
	// Registered says that Host is registered on the share under this Boot, so
	// that a record of the same Host with another Boot is of a machine that is gone.
	Registered bool
}

// maxName leaves room for a host's name in the names of claims (NAME_MAX).
const maxName = 64

// ValidName reports whether s can be a host's name on the share: 1 to 64 letters,
// digits, ".", "_" and "-", beginning with a letter or digit.
func ValidName(s string) bool {
	if s == "" || len(s) > maxName || strings.ContainsRune("._-", rune(s[0])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("._-", r)
	})
}

// Self is the Identity of this process. An empty name means the machine's own.
func Self(name string) (Identity, error) {
	if name == "" {
		var err error
		if name, err = os.Hostname(); err != nil {
			return Identity{}, fmt.Errorf("name this host: %w", err)
		}
	}
	if !ValidName(name) {
		return Identity{}, fmt.Errorf("host name %q: want 1 to %d letters, digits, '.', '_' or '-'", name, maxName)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("read boot id: %w", err)
	}
	id := Identity{Host: name, Boot: strings.TrimSpace(string(boot)), PID: os.Getpid(), Nonce: nonce()}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		id.PIDNS = strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]")
	}
	if st, err := readStat("self"); err == nil {
		id.StartTicks = st.ticks
	}
	return id, nil
}

// nonce makes 64 random bits in hex.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// ErrNoProcess: there is no process of that number, or only what is left of one that
// has ended and that its parent has not waited for (a zombie).
var ErrNoProcess = errors.New("no such process")

// Proc looks up a process of this machine and namespace by number: when it began,
// in clock ticks since the boot (0 where that is hidden), or ErrNoProcess. Any
// other error means that nothing is known.
type Proc func(pid int) (startTicks uint64, err error)

// Process is the Proc of a real machine. Only ESRCH and the state of a zombie whose
// threads have all ended say that a process is gone.
func Process(pid int) (uint64, error) {
	if pid <= 1 {
		return 0, fmt.Errorf("look up process %d: not a number to ask about", pid)
	}
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return 0, ErrNoProcess
	}
	st, err := readStat(strconv.Itoa(pid))
	switch {
	case err != nil:
		return 0, nil // it is there, /proc hides it
	case st.ended:
		return 0, ErrNoProcess
	}
	return st.ticks, nil
}

// stat is what a line of /proc/<pid>/stat says of a process.
type stat struct {
	ticks uint64 // when it began
	ended bool   // nothing of it runs any more
}

// readStat reads /proc/<pid>/stat (proc_pid_stat(5)).
func readStat(pid string) (stat, error) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(data))
}

// parseStat takes state, threads and start time out of a stat line: fields 3, 20 and
// 22. The second field, the command's name in parentheses, may hold blanks and
// parentheses itself. A zombie counts as ended only when it is its own last thread:
// the others may still be inside a write to the share.
func parseStat(line string) (stat, error) {
	const state, threads, start = 0, 17, 19
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= start {
		return stat{}, errors.New("parse stat line: too short")
	}
	n, err := strconv.Atoi(fields[threads])
	if err != nil {
		return stat{}, fmt.Errorf("parse stat line: threads: %w", err)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("parse stat line: start: %w", err)
	}
	return stat{ticks, strings.ContainsAny(fields[state], "ZXx") && n <= 1}, nil
}

// Gone reports whether the process other is certainly no more, seen from the process
// id, and why. It says false whenever it cannot know: another host, another pid
// namespace, a number that must not be asked about.
func (id Identity) Gone(other Identity, proc Proc) (bool, string) {
	if id.Host != other.Host || other.Host == "" || other.Boot == "" {
		return false, ""
	}
	if id.Boot != other.Boot {
		if id.Registered {
			return true, "its host has been started again since"
		}
		return false, ""
	}
	if other.PIDNS == "" || id.PIDNS != other.PIDNS || other.PID <= 1 {
		return false, ""
	}
	ticks, err := proc(other.PID)
	switch {
	case errors.Is(err, ErrNoProcess):
		return true, fmt.Sprintf("its process %d is gone", other.PID)
	case err != nil || ticks == 0 || other.StartTicks == 0 || ticks == other.StartTicks:
		return false, ""
	}
	return true, fmt.Sprintf("its process %d is gone, the number belongs to another", other.PID)
}
