package notification

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logger "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// maxConnections bounds the connections that are open.
	maxConnections = 1000
	// maxHeader is the size of a request's header.
	maxHeader = 16 << 10
	// shutdownTimeout is how long requests under way may take at the end.
	shutdownTimeout = time.Second
)

// Config is what a Server works with.
type Config struct {
	// BindAddress is where the Server listens.
	BindAddress string
	// Cache has services and Mandates. Live reads metadata of Mandates from the API server.
	Cache, Live client.Reader
	// ClusterServices: the account may read ClusterIdentityServices.
	ClusterServices bool
	// Metadata patches the annotations of Mandates and services.
	Metadata client.Writer
	// Capture has the shapes of deliveries logged, and no values.
	Capture bool
	// Observe is called with the result of every delivery: matched, unmatched, refused or limited.
	Observe func(result string)
}

// Server receives notifications on a listener of its own. It runs on every replica: all of them have the cache, and
// what a delivery causes is written to Mandates.
type Server struct {
	address  string
	receiver *Receiver
	notifier *Notifier
}

// NewServer makes a Server. Its Index is to be a handler of the events of Mandates.
func NewServer(config *Config) (*Server, *Index) {
	index, of := NewIndex(), accounts{config.Cache, config.ClusterServices}
	notifier := newNotifier(index, of, config.Live, config.Metadata, clock.RealClock{})
	notifier.observe = config.Observe
	deliver := notifier.deliver
	if config.Capture {
		deliver = capture(deliver)
	}
	return &Server{config.BindAddress, newReceiver(of, deliver, config.Observe), notifier}, index
}

// NeedLeaderElection is false: every replica receives.
func (*Server) NeedLeaderElection() bool { return false }

// Start serves until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	logger.FromContext(ctx).Info("Receiving notifications", "address", listener.Addr().String())
	return s.serve(ctx, listener)
}

func (s *Server) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.receiver,
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      2 * bodyTimeout,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // it could repeat what a sender has sent
		// The answer to everything that is no delivery is the same.
		DisableGeneralOptionsHandler: true,
	}
	served := make(chan error, 1)
	limited := newClientListener(listener, maxConnections)
	go func() { served <- server.Serve(limited) }()
	notifying, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.notifier.run(notifying) })
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		err = errors.Join(server.Shutdown(closing), server.Close(), <-served)
	}
	stop() // nothing is accepted any more
	running.Wait()
	if ctx.Err() != nil {
		return nil // a request that was cut off is no failure of the operator
	}
	return err
}

// clientListener closes the connections of an address that has more of them than are free for others. So an Ingress,
// whose address all senders have, may have half of all, and no address can take what others need.
type clientListener struct {
	net.Listener

	mu   sync.Mutex
	open map[string]int // by address, without port
	free int
}

func newClientListener(listener net.Listener, limit int) *clientListener {
	return &clientListener{Listener: listener, open: map[string]int{}, free: limit}
}

// Accept waits for the next connection.
func (l *clientListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client, _, err := net.SplitHostPort(accepted.RemoteAddr().String())
		if err != nil || !l.add(client) {
			accepted.Close()
			continue
		}
		return &clientConn{Conn: accepted, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
	}
}

func (l *clientListener) add(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client] >= l.free {
		return false
	}
	l.open[client]++
	l.free--
	return true
}

func (l *clientListener) remove(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[client]--
	l.free++
	if l.open[client] == 0 {
		delete(l.open, client)
	}
}

// clientConn is a connection that is counted.
type clientConn struct {
	net.Conn
	closed func()
}

// Close closes the connection.
func (c *clientConn) Close() error {
	c.closed()
	return c.Conn.Close()
}
