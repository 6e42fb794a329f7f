package notification

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener in memory, so that a test decides in which order a thousand connections come.
type pipes struct {
	accepting chan net.Conn
	closing   chan struct{}
	closed    func()
}

func newPipes() *pipes {
	p := &pipes{accepting: make(chan net.Conn), closing: make(chan struct{})}
	p.closed = sync.OnceFunc(func() { close(p.closing) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepting:
		return conn, nil
	case <-p.closing:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.closed()
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connect connects from an address.
func (p *pipes) connect(t *testing.T, address string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	p.accepting <- pipe{server, &net.TCPAddr{IP: net.ParseIP(address), Port: 1}}
	return client
}

type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }

func address(i int) string { return fmt.Sprintf("192.0.2.%d", 100+i) }

const (
	proxy      = "192.0.2.1"
	goodPost   = "POST " + goodPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	wrongStart = "POST " + goodPath + "0 HTTP/1.1\r\nHost: x\r\n"
	wrongPost  = wrongStart + "Content-Length: 0\r\n\r\n"
)

// A thousand senders without a token, behind the same proxy as a good one, keep none of its deliveries out.
func TestWrongSendersBehindAProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		serveOn(t, listener).connect(testKey, goodToken)
		if got := exchangeOn(listener.connect(t, proxy), goodPost); got != "200 OK" {
			t.Fatalf("before the others: %q", got)
		}
		var running sync.WaitGroup
		var mu sync.Mutex
		answers := map[string]int{}
		for i := range 1000 {
			running.Go(func() {
				<-time.After(time.Duration(i) * time.Millisecond / 10)
				for range 8 {
					conn := listener.connect(t, proxy)
					answer := exchangeOn(conn, wrongPost)
					_ = conn.Close()
					mu.Lock()
					answers[answer]++
					mu.Unlock()
					<-time.After(50 * time.Millisecond)
				}
			})
		}
		for i := range 40 {
			if got := exchangeOn(listener.connect(t, proxy), goodPost); got != "200 OK" {
				t.Errorf("delivery %d: %q", i, got)
			}
			<-time.After(5 * time.Millisecond)
		}
		running.Wait()
		if answers["404 Not Found"] != 8000 {
			t.Errorf("the others are answered with %v", answers)
		}
	})
}

// The rest of a refused request holds no connection: neither a slow one, nor one that would be large.
func TestRefusedRequestsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		serveOn(t, listener).connect(testKey, goodToken)
		slow, large := wrongStart+"Content-Length: 10\r\n\r\n{", wrongStart+"Content-Length: 1000000\r\n\r\n{"
		for what, request := range map[string]string{"slow": slow, "large": large} {
			conn, started := listener.connect(t, proxy), time.Now()
			if got := exchangeOn(conn, request); got != "404 Not Found" {
				t.Errorf("%s: %q", what, got)
			}
			_, _ = io.Copy(io.Discard, conn)
			if took := time.Since(started); took > time.Second {
				t.Errorf("%s: closed after %s", what, took)
			}
		}
	})
}

// A thousand connections that never get to the end of a header cost little memory, and keep no delivery from arriving.
func TestAThousandConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const addresses, limit = 10, 64 << 20
		listener := newPipes()
		serveOn(t, listener).connect(testKey, goodToken)
		before := inUse()
		var running sync.WaitGroup
		ended := make(chan time.Duration, maxConnections)
		started := time.Now()
		for i := range maxConnections {
			conn := listener.connect(t, address(i*addresses/maxConnections))
			running.Go(func() {
				_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nX: "+strings.Repeat("x", maxHeader/2))
				_, _ = io.Copy(io.Discard, conn)
				ended <- time.Since(started)
			})
			synctest.Wait()
		}
		// The last address has as many as are free for others.
		if got, want := len(ended), maxConnections/addresses/2; got != want {
			t.Errorf("%d of %d connections are closed, want %d", got, maxConnections, want)
		}
		if used := inUse() - before; used > limit {
			t.Errorf("%d connections take %d bytes, want %d at most", maxConnections-len(ended), used, limit)
		}
		if got := exchangeOn(listener.connect(t, proxy), goodPost); got != "200 OK" {
			t.Errorf("beside a thousand connections: %q", got)
		}
		if took := time.Since(started); took != 0 {
			t.Errorf("the delivery took %s", took)
		}
		running.Wait()
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("the connections are open for %s", took)
		}
	})
}

// inUse is the memory of heap and stacks. A sync.Pool keeps what it holds over one collection.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}

// An address has as many connections as are free for others, and no more.
func TestConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	const limit = 20
	c := &connections{open: map[string]int{}, free: limit}
	var open []*counted
	for i, want := range []int{10, 5, 3, 1, 1, 0} { // of what is free, half
		accepted := 0
		for range limit {
			conn := &counted{from: &net.TCPAddr{IP: net.ParseIP(address(i)), Port: 1}}
			c.changed(conn, http.StateNew)
			if conn.closed {
				c.changed(conn, http.StateClosed)
				continue
			}
			accepted++
			open = append(open, conn)
			c.changed(conn, http.StateActive)
		}
		if accepted != want {
			t.Errorf("address %d has %d connections, want %d", i, accepted, want)
		}
	}
	for _, conn := range open {
		c.changed(conn, http.StateClosed)
	}
	if len(c.open) != 0 || c.free != limit {
		t.Errorf("after the last one is closed, %v are counted and %d are free", c.open, c.free)
	}
}

// counted is a connection that says whether it was closed.
type counted struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (c *counted) RemoteAddr() net.Addr { return c.from }

func (c *counted) Close() error {
	c.closed = true
	return nil
}
