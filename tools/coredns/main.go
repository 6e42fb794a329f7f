// Command coredns is CoreDNS with the few plugins that make e2e needs. All of them would bring the SDKs of every cloud.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/rewrite"
)

// A query passes the plugins in this order.
func init() { dnsserver.Directives = []string{"bind", "errors", "rewrite", "kubernetes"} }

func main() { coremain.Run() }
