package world

import (
	"math/rand/v2"
	"sync"
	"time"

	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// Moody is the script of a smarthost that, by seed, defers, hangs up, answers
// late, takes mail and says nothing, or never answers. bad is how many steps in a
// thousand go wrong. After calm it is in order.
func Moody(seed uint64, bad int, calm time.Duration) func(queuetest.Step) queuetest.Action {
	start := time.Now()
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 11))
	return func(s queuetest.Step) queuetest.Action {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(start) > calm || rng.IntN(1000) >= bad {
			return queuetest.Action{}
		}
		return mood(rng, s.Phase)
	}
}

func mood(rng *rand.Rand, phase queue.Phase) queuetest.Action {
	switch k := rng.IntN(10); {
	case k < 3 && phase != queue.PhaseConnect && phase != queue.PhaseGreeting:
		return queuetest.Action{Reply: "451 4.2.1 later"}
	case k < 4 && phase == queue.PhaseDot:
		return queuetest.Action{Lost: true, Close: true} // taken, and nobody is told
	case k < 5:
		return queuetest.Action{Close: true}
	case k < 6:
		return queuetest.Action{Cut: 1 + rng.IntN(200)}
	case k < 7:
		return queuetest.Action{Hang: true}
	case k < 9:
		return queuetest.Action{Wait: time.Duration(rng.IntN(30)) * time.Second}
	}
	return queuetest.Action{}
}
