package hosts

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// magic opens a registration; its number is the format's version.
const magic = "qrunner-host 1"

// encode writes a registration: a line per field, then the sum of the lines above.
func encode(id Identity) []byte {
	s := fmt.Sprintf("%s\nhost %s\nboot %s\npid %d\npidns %s\nstart %d\nnonce %s\n",
		magic, id.Host, id.Boot, id.PID, id.PIDNS, id.StartTicks, id.Nonce)
	return fmt.Appendf(nil, "%scrc %08x\n", s, crc32.ChecksumIEEE([]byte(s)))
}

// decode reads a registration, or says what is wrong with it.
func decode(data []byte) (Identity, error) {
	body, sum, ok := strings.Cut(string(data), "crc ")
	if !ok || !strings.HasPrefix(body, magic+"\n") {
		return Identity{}, fmt.Errorf("parse host registration: not one of ours")
	}
	if sum != fmt.Sprintf("%08x\n", crc32.ChecksumIEEE([]byte(body))) {
		return Identity{}, fmt.Errorf("parse host registration: wrong sum")
	}
	var id Identity
	var err error
	for line := range strings.Lines(body) {
		key, val, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "host":
			id.Host = val
		case "boot":
			id.Boot = val
		case "pid":
			id.PID, err = strconv.Atoi(val)
		case "pidns":
			id.PIDNS = val
		case "start":
			id.StartTicks, err = strconv.ParseUint(val, 10, 64)
		case "nonce":
			id.Nonce = val
		}
		if err != nil {
			return Identity{}, fmt.Errorf("parse host registration: %w", err)
		}
	}
	if !ValidName(id.Host) {
		return Identity{}, fmt.Errorf("parse host registration: host name %q", id.Host)
	}
	return id, nil
}
