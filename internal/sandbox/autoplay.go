package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// autoplayer plays the individuals while autoplay is on.
type autoplayer struct {
	account *state.Account
	changed chan struct{}

	mu   sync.Mutex
	mode control.Autoplay
}

func newAutoplayer(account *state.Account, mode control.Autoplay) *autoplayer {
	return &autoplayer{account: account, changed: make(chan struct{}, 1), mode: mode}
}

func (p *autoplayer) get() control.Autoplay {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// set changes the mode. Its delay is 1 or more.
func (p *autoplayer) set(mode control.Autoplay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *autoplayer) run(ctx context.Context) {
	for {
		var due <-chan time.Time
		if mode := p.get(); mode.Enabled {
			due = time.After(time.Duration(mode.DelayMillis) * time.Millisecond)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		case <-due:
			p.account.StepAll()
		}
	}
}
