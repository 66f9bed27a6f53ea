package fanout

import (
	"fmt"
	"testing"

	"qrunner/locking/simfs"
)

// TestPowerCutInTheDeletion: what nobody synced is kept or lost as coins say. A folder
// that was finished must not come back to out/ without its journals.
func TestPowerCutInTheDeletion(t *testing.T) {
	for seed := range uint64(6) {
		for nth := 6; nth <= 12; nth++ {
			crashRun(t, fmt.Sprintf("seed %d, file %d", seed, nth), simfs.Config{AsyncExport: true, Seed: seed}, false,
				simfs.Fault{Op: "remove", Name: "queue/done/*/*", Nth: nth, Kind: simfs.CrashAfter})
		}
	}
}
