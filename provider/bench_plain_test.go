package provider_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// In a benchmark, this program also runs as the program that Terraform starts. A script adds an argument for its role.
const (
	rolePlain    = "serve-plain-provider"
	roleMeasured = "measure-provider"
)

// runRole serves the plain provider, or runs a provider and appends its peak memory in KiB and its processor time in
// microseconds to a file. It returns false if the arguments name no role.
func runRole(arguments []string) bool {
	switch {
	case len(arguments) > 1 && arguments[1] == rolePlain:
		options := providerserver.ServeOpts{Address: "registry.terraform.io/mandate-io/plain"}
		newProvider := func() provider.Provider { return plainProvider{} }
		if err := providerserver.Serve(context.Background(), newProvider, options); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case len(arguments) > 3 && arguments[1] == roleMeasured:
		signal.Ignore(os.Interrupt)                             // the provider gets it too, and handles it
		command := exec.Command(arguments[3], arguments[4:]...) //nolint:noctx // the CLI ends it
		command.Stdin = os.Stdin
		command.Stdout = os.Stdout
		command.Stderr = os.Stderr
		_ = command.Run()
		usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
		file, err := os.OpenFile(arguments[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if ok && err == nil {
			cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
			fmt.Fprintln(file, usage.Maxrss, cpu.Microseconds())
			_ = file.Close()
		}
	default:
		return false
	}
	return true
}

// installMeasuredProviders writes the provider and the plain one into a directory, each as a script that measures it.
func installMeasuredProviders(dir, built, usages string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name, command := range map[string]string{
		"idv":   fmt.Sprintf("'%s/terraform-provider-idv' \"$@\"", built),
		"plain": fmt.Sprintf("'%s' %s", self, rolePlain),
	} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' %s '%s' %s\n", self, roleMeasured, usages+"."+name, command)
		if err := os.WriteFile(filepath.Join(dir, "terraform-provider-"+name), []byte(script), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// plainProvider is the baseline of the benchmark. It sends the requests that a subscription needs and does nothing
// else: no login, no lookup, no checks, no retries. It reads every subscription with a request of its own, even where
// one response has all subscriptions of an application. The benchmark reports both numbers of requests.
type plainProvider struct{}

func (plainProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "plain"
}
func (plainProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (plainProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (plainProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
func (plainProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return plainSubscription{} }}
}

type plainSubscription struct{}

type plainModel struct {
	URL           types.String `tfsdk:"url"`
	ApplicationID types.Int64  `tfsdk:"application_id"`
	Answer        types.String `tfsdk:"answer"`
}

func (m plainModel) retrievePath() string {
	return "/ext/webhooks/retrieve/" + strconv.FormatInt(m.ApplicationID.ValueInt64(), 10)
}

func (plainSubscription) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "plain_subscription"
}

func (plainSubscription) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"url":            schema.StringAttribute{Required: true},
		"application_id": schema.Int64Attribute{Optional: true},
		"answer":         schema.StringAttribute{Computed: true},
	}}
}

func (plainSubscription) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model plainModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	body := fmt.Sprintf("{\"url\": %q}", model.URL.ValueString())
	if !model.ApplicationID.IsNull() {
		body = fmt.Sprintf("{\"url\": %q, \"application_id\": %d}", model.URL.ValueString(), model.ApplicationID.ValueInt64())
	}
	answer, err := plainRequest(ctx, http.MethodPost, "/ext/webhooks/subscribe", body)
	if err == nil && !model.ApplicationID.IsNull() {
		_, err = plainRequest(ctx, http.MethodGet, model.retrievePath(), "")
	}
	if err != nil {
		resp.Diagnostics.AddError("failed", err.Error())
		return
	}
	model.Answer = types.StringValue(answer)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func (plainSubscription) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model plainModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	if model.ApplicationID.IsNull() {
		return
	}
	if _, err := plainRequest(ctx, http.MethodGet, model.retrievePath(), ""); err != nil {
		resp.Diagnostics.AddError("failed", err.Error())
	}
}

func (plainSubscription) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (plainSubscription) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func plainRequest(ctx context.Context, method, path, body string) (string, error) {
	url := os.Getenv("PLAIN_BASE_URL") + "/api/v1" + path
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewBufferString(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLAIN_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := plainTransport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return string(answer), err
}

var plainTransport = &http.Transport{MaxIdleConnsPerHost: 16}
