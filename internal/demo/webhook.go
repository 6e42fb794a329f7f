package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// receiver is the target of the webhook subscription. It counts the events.
type receiver struct {
	url    string
	server *http.Server
	events atomic.Int64
}

func newReceiver(ctx context.Context) (*receiver, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/idv"}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
	go func() { _ = r.server.Serve(listener) }() // until close
	return r, nil
}

// ServeHTTP counts a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.events.Add(1)
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) close() {
	_ = r.server.Close()
}

func (d *demo) checkEvents(context.Context) (string, error) {
	events := d.receiver.events.Load()
	if events == 0 {
		return "", failure{errors.New("no events received; the sandbox has no webhook subscription"), d.sandboxProcess.Log}
	}
	return fmt.Sprintf("%d events", events), nil
}
