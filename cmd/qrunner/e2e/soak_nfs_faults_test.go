package e2e

import (
	"math/rand/v2"
	"time"
)

// outlast is longer than a lock of the soak's hosts lives.
const outlast = 12 * time.Second

// strikeNFS does what is next in turn to one of the hosts, or to the server.
func (s *soak) strikeNFS(k int) {
	r := s.runners[rand.IntN(len(s.runners))]
	blows := []struct {
		name string
		do   func()
	}{
		{"kill", func() { r.inGuest("KILL"); <-r.d.done; pace(time.Duration(rand.IntN(2000)) * time.Millisecond) }},
		{"pause", func() { r.inGuest("STOP"); pace(outlast); r.inGuest("CONT") }},
		{"partition", func() { r.fault("partition"); pace(outlast); r.fault("heal") }},
		{"mute", func() { r.fault("mute"); pace(outlast); r.fault("unmute") }},
		{"server power cut", func() { s.fault("server", "kill"); pace(time.Second); s.fault("server", "start") }},
		{"freeze", func() { r.fault("pause"); pace(outlast); r.fault("resume") }},
		{"server power cut and mute", func() {
			r.fault("mute")
			pace(500 * time.Millisecond)
			s.fault("server", "kill")
			s.fault("server", "start")
			r.fault("unmute")
		}},
		{"power cut", func() { r.fault("kill"); <-r.d.done; r.fault("start") }},
	}
	b := blows[k%len(blows)]
	s.blows[b.name]++
	s.t.Logf("%v %s (%s)", time.Now().UTC().Format(time.TimeOnly), b.name, r.h.conf.Host)
	d := r.d
	b.do()
	for _, r := range s.runners {
		select {
		case <-r.d.done:
			if b.name != "kill" && b.name != "power cut" || r.d != d {
				s.blows["ended by itself"]++
			}
			r.start()
		default:
		}
	}
}

func (s *soak) fault(host, what string) { rig(s.t, "fault", host, what) }

func (r *soakRunner) fault(what string) { rig(r.h.t, "fault", r.guest, what) }

// inGuest sends the daemon a signal that its client here could not pass on.
func (r *soakRunner) inGuest(signal string) {
	rig(r.h.t, "run", r.guest, "-n", "--", "sh", "-c", "kill -"+signal+" $(cat /tmp/daemon)")
}
