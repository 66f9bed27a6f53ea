package store

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// root is the folder of all lists.
const root = "lists"

const generationPrefix = "generation."

// folder is one incarnation's folder, from the share's root.
type folder string

func listFolder(id lists.ID) string { return path.Join(root, string(id)) }

func incarnationFolder(id lists.ID, incarnation string) folder {
	return folder(path.Join(listFolder(id), incarnation))
}

func (d folder) log() string            { return path.Join(string(d), "log") }
func (d folder) record(n uint64) string { return path.Join(string(d), "log", number(n)) }
func (d folder) snapshots() string      { return path.Join(string(d), "snapshot") }
func (d folder) snapshot(n uint64) string {
	return path.Join(string(d), "snapshot", number(n))
}
func (d folder) sides() string           { return path.Join(string(d), "side") }
func (d folder) side(name string) string { return path.Join(string(d), "side", name) }
func (d folder) histories() string       { return path.Join(string(d), "history") }
func (d folder) history(n uint64) string { return path.Join(string(d), "history", number(n)) }
func (d folder) temps() string           { return path.Join(string(d), "tmp") }
func (d folder) temp(what string) string { return path.Join(string(d), "tmp", what+"."+random()) }
func (d folder) all() []string {
	return []string{d.log(), d.snapshots(), d.sides(), d.histories(), d.temps()}
}

// number is n as a name: 20 digits, so that names sort as numbers.
func number(n uint64) string { return fmt.Sprintf("%020d", n) }

func parseNumber(name string) (uint64, bool) {
	if len(name) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n > 0
}

// numbers picks the numbered names out of a listing, ascending.
func numbers(list []fsys.DirEntry) []uint64 {
	out := make([]uint64, 0, len(list))
	for _, e := range list {
		if n, ok := parseNumber(e.Name); ok {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, cmp.Compare[uint64])
	return out
}

// random is 16 hexadecimal digits.
func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
