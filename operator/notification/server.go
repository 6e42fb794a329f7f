package notification

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logger "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/mandate-io/idv/operator/connection"
)

const (
	// maxConnections may be open, and a header may have maxHeader bytes.
	maxConnections, maxHeader = 1000, 16 << 10
	// shutdownTimeout is how long requests under way may take at the end.
	shutdownTimeout = time.Second
)

// Config is what a Server works with.
type Config struct {
	BindAddress string
	Services    connection.ServiceReader // of a cache that has Mandates, too
	Metadata    client.Writer            // patches the annotations of Mandates and services
	Capture     bool                     // has the names in deliveries logged, and no values
	Observe     func(result string)      // is called with one of Results for every delivery
}

// Server receives notifications on a listener of its own. It runs on every replica: all of them have the cache, and
// what a delivery causes is written to Mandates.
type Server struct {
	manager.Server
	notifier *Notifier
}

// NewServer makes a Server. Its Index is to be a handler of the events of Mandates.
func NewServer(config *Config) (*Server, *Index) {
	index, of := NewIndex(), accounts{config.Services, config.Metadata}
	notifier := newNotifier(index, of)
	deliver := deliver(notifier.deliver)
	if config.Capture {
		deliver = capture(deliver)
	}
	open := &connections{open: map[string]int{}, free: maxConnections}
	return &Server{manager.Server{Name: "notifications", ShutdownTimeout: new(shutdownTimeout), Server: &http.Server{
		Addr:              config.BindAddress,
		Handler:           newReceiver(of, deliver, config.Observe),
		ConnState:         open.changed,
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      2 * bodyTimeout,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // it could repeat what a sender has sent
		// The answer to everything that is no delivery is the same.
		DisableGeneralOptionsHandler: true,
	}}, notifier}, index
}

// Start serves until ctx ends. What was accepted until then is annotated.
func (s *Server) Start(ctx context.Context) (err error) {
	if s.Listener == nil {
		s.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.Server.Server.Addr)
		if err != nil {
			return err
		}
	}
	logger.FromContext(ctx).Info("Receiving notifications", "address", s.Listener.Addr().String())
	notifying, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.notifier.run(notifying) })
	err = s.Server.Start(ctx)
	_ = s.Server.Server.Close() // what has no answer by now gets none
	stop()
	running.Wait()
	return err
}

// connections closes the connections of an address that has more of them than are free for others. So an Ingress,
// whose address all senders have, may have half of all, and no address can take what others need.
type connections struct {
	mu   sync.Mutex
	open map[string]int // by address, without port
	free int
}

// changed is told of every connection when it is accepted, and when it is closed.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	client, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open[client] >= c.free {
			conn.Close()
		}
		c.open[client]++
		c.free--
	case http.StateClosed:
		c.open[client]--
		c.free++
	}
	if c.open[client] == 0 {
		delete(c.open, client)
	}
}
