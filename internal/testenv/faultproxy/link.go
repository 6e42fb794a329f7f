package faultproxy

import (
	"context"
	"io"
	"net"
	"sync"
)

// TCPProxy is a TCP connection that can be frozen: what is sent while it is, arrives later, and nothing is closed. That is
// what a network partition looks like from both sides.
type TCPProxy struct {
	// Address is where it listens.
	Address string

	target   string
	listener net.Listener
	gate     Gate
	end      context.CancelFunc
	running  sync.WaitGroup
}

// NewTCPProxy listens on a port of loopback and connects to target, a host and port, for each connection.
func NewTCPProxy(target string) (*TCPProxy, error) {
	ctx, end := context.WithCancel(context.Background())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		end()
		return nil, err
	}
	l := &TCPProxy{Address: listener.Addr().String(), target: target, listener: listener, end: end}
	l.running.Go(func() { l.accept(ctx) })
	return l, nil
}

// Pause stops all traffic, of new connections too.
func (l *TCPProxy) Pause() { l.gate.Pause() }

// Resume lets everything go on.
func (l *TCPProxy) Resume() { l.gate.Resume() }

// Close ends all connections, and returns when they have ended.
func (l *TCPProxy) Close() {
	l.end()
	_ = l.listener.Close()
	l.running.Wait()
}

func (l *TCPProxy) accept(ctx context.Context) {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.running.Go(func() { l.serve(ctx, near) })
	}
}

func (l *TCPProxy) serve(ctx context.Context, near net.Conn) {
	defer near.Close()
	if l.gate.wait(ctx) != nil {
		return
	}
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.target)
	if err != nil {
		return
	}
	defer far.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
	defer stop()
	var copying sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		copying.Go(func() {
			defer end()
			_, _ = io.Copy(way[0], &gatedReader{way[1], &l.gate, ctx})
		})
	}
	copying.Wait()
}
