package provider_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mandate-io/idv/provider"
)

// inProcess returns a workspace whose CLI uses a provider in this process, which the block configures. A command then
// starts no provider, which would take most of its time. Commands of one workspace run one after another, and there is
// no further block, because each configures the same provider. Use workspace for several blocks, and for what depends
// on the environment, the log or the end of a provider.
func (c cli) inProcess(t *testing.T, block string) *workspace {
	t.Helper()
	skipIfShort(t)
	host := map[string]string{"tofu": "registry.opentofu.org", "terraform": "registry.terraform.io"}[c.name]
	address := host + "/mandate-io/idv"
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	listening, closed := make(chan *goplugin.ReattachConfig), make(chan struct{})
	go func() {
		err := tf6server.Serve(address, provider.NewServer("test"),
			tf6server.WithDebug(ctx, listening, closed), tf6server.WithoutLogStderrOverride(),
			tf6server.WithLoggingSink(t), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
		if err != nil {
			t.Error(err)
		}
	}()
	reattach := <-listening
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	encoded, err := json.Marshal(map[string]any{address: map[string]any{
		"Protocol": reattach.Protocol, "ProtocolVersion": reattach.ProtocolVersion, "Pid": reattach.Pid, "Test": true,
		"Addr": map[string]string{"Network": reattach.Addr.Network(), "String": reattach.Addr.String()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := c.workspaceWithoutProvider(t)
	w.block, w.env = block, append(w.env, "TF_REATTACH_PROVIDERS="+string(encoded), "GOGC=400")
	return w
}
