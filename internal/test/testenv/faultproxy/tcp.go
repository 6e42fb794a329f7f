package faultproxy

import (
	"context"
	"io"
	"net"
	"sync"
)

// TCPProxy forwards TCP connections and can pause them. During a pause no data arrives and no connection closes, as in
// a network partition.
type TCPProxy struct {
	// Address is the address that it listens on.
	Address string

	target   string
	listener net.Listener
	gate     Gate
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// NewTCPProxy listens on loopback and forwards connections to target, a host and port.
func NewTCPProxy(target string) (*TCPProxy, error) {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, err
	}
	p := &TCPProxy{Address: listener.Addr().String(), target: target, listener: listener, cancel: cancel}
	p.running.Go(func() { p.accept(ctx) })
	return p, nil
}

// Pause stops the traffic of all connections, including new ones.
func (p *TCPProxy) Pause() { p.gate.Pause() }

// Resume lets the traffic go on.
func (p *TCPProxy) Resume() { p.gate.Resume() }

// Close closes all connections and returns when they are closed.
func (p *TCPProxy) Close() {
	p.cancel()
	_ = p.listener.Close()
	p.running.Wait()
}

func (p *TCPProxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(ctx, client) })
	}
}

func (p *TCPProxy) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	if p.gate.wait(ctx) != nil {
		return
	}
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	var copying sync.WaitGroup
	for _, direction := range [][2]net.Conn{{client, server}, {server, client}} {
		copying.Go(func() {
			defer cancel()
			_, _ = io.Copy(direction[0], &gatedReader{direction[1], &p.gate, ctx})
		})
	}
	copying.Wait()
}
