package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
)

// EditStored changes an object of a custom resource in etcd, past the rules of its CRD. The resource is group and
// plural, such as example.com/widgets. An object without a namespace has an empty one.
func (e *Environment) EditStored(
	ctx context.Context, resource, namespace, name string, edit func(map[string]any),
) error {
	key := []byte(path.Join("/registry", resource, namespace, name))
	var found struct {
		KVs []struct{ Value []byte }
	}
	if err := e.callEtcd(ctx, "range", map[string]any{"key": key}, &found); err != nil {
		return err
	}
	if len(found.KVs) != 1 {
		return fmt.Errorf("etcd has %d values of %s", len(found.KVs), key)
	}
	var object map[string]any
	if err := json.Unmarshal(found.KVs[0].Value, &object); err != nil {
		return err
	}
	edit(object)
	value, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return e.callEtcd(ctx, "put", map[string]any{"key": key, "value": value}, &struct{}{})
}

// CompactEtcd removes the revisions before a resource version from etcd, so that no watch can start there.
func (e *Environment) CompactEtcd(ctx context.Context, resourceVersion string) error {
	return e.callEtcd(ctx, "compaction", map[string]any{"revision": resourceVersion, "physical": true}, &struct{}{})
}

// callEtcd calls a method of etcd's JSON gateway.
func (e *Environment) callEtcd(ctx context.Context, method string, arguments, answer any) error {
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	url := e.controlPlane.ControlPlane.Etcd.URL.JoinPath("v3", "kv", method).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: requestTimeout}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd %s: %s", method, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
