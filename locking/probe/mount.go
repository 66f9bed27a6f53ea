package probe

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Mount judges the mount that dir lies on; mountinfo is the text of
// /proc/self/mountinfo (proc(5)). dir is an absolute path without symbolic links.
func Mount(mountinfo io.Reader, dir string) []Finding {
	m, found := findMount(mountinfo, dir)
	if !found {
		return []Finding{{Check: "mount", Level: Warn, Text: "no mount found for " + dir}}
	}
	if m.kind != "nfs" && m.kind != "nfs4" {
		return []Finding{ok("mount", "%s (%s): fine for one host; several need NFS", m.point, m.kind)}
	}
	out := []Finding{ok("mount", "%s is %s (%s)", m.point, m.kind, strings.Join(m.options, ","))}
	for _, rule := range mountRules {
		if f := rule(m); f.Check != "" {
			out = append(out, f)
		}
	}
	return out
}

type mount struct {
	point, kind string
	options     []string
}

func (m mount) has(option string) bool { return slices.Contains(m.options, option) }

func (m mount) value(name string) string {
	for _, o := range m.options {
		if v, ok := strings.CutPrefix(o, name+"="); ok {
			return v
		}
	}
	return ""
}

// mountRules each say one thing about an NFS mount, or nothing.
var mountRules = []func(mount) Finding{
	func(m mount) Finding {
		if !m.has("soft") && !m.has("softerr") {
			return Finding{}
		}
		return unfit("soft", "mount with hard", "a soft mount answers errors for calls that were done")
	},
	func(m mount) Finding {
		if v := m.value("lookupcache"); v == "none" {
			return Finding{}
		}
		return Finding{Check: "lookupcache", Level: Warn, Text: "names that other hosts make may stay unseen for half a minute",
			Remedy: "mount with lookupcache=none: it costs little (correctness does not depend on it)"}
	},
	func(m mount) Finding {
		if !m.has("noac") {
			return Finding{}
		}
		return Finding{Check: "noac", Level: Warn, Text: "noac makes every call slower and cures nothing that qrunner depends on", Remedy: "mount without noac"}
	},
	func(m mount) Finding {
		v := m.value("vers")
		if v == "4.1" || v == "4.2" {
			return Finding{}
		}
		return Finding{Check: "version", Level: Warn, Text: fmt.Sprintf("NFS %s repeats calls whose answer was lost", v),
			Remedy: "mount with vers=4.2 where the server can"}
	},
	func(m mount) Finding {
		if !m.has("ro") {
			return Finding{}
		}
		return unfit("read-only", "mount read-write", "the share is mounted read-only")
	},
}

// findMount looks for the longest mount point that dir lies below.
func findMount(r io.Reader, dir string) (mount, bool) {
	var best mount
	found := false
	for sc := bufio.NewScanner(r); sc.Scan(); {
		left, right, ok := strings.Cut(sc.Text(), " - ")
		f, g := strings.Fields(left), strings.Fields(right)
		if !ok || len(f) < 6 || len(g) < 3 {
			continue
		}
		point := unescape.Replace(f[4])
		below := point == dir || point == "/" || strings.HasPrefix(dir, point+"/")
		if below && (!found || len(point) >= len(best.point)) {
			best = mount{point, g[0], append(strings.Split(f[5], ","), strings.Split(g[2], ",")...)}
			found = true
		}
	}
	return best, found
}

// unescape undoes what the kernel does to blanks in mount points.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
