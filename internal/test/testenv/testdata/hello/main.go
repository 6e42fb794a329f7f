// Command hello prints its address and responds to every request with 200.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	os.Exit(1)
}
