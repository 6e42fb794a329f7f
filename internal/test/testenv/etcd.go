package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
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
	if err := e.callEtcd(ctx, "kv/range", map[string]any{"key": key}, &found); err != nil {
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
	return e.callEtcd(ctx, "kv/put", map[string]any{"key": key, "value": value}, &struct{}{})
}

// CompactEtcd removes the revisions before a resource version from etcd, so that no watch can start there.
func (e *Environment) CompactEtcd(ctx context.Context, resourceVersion string) error {
	return e.callEtcd(ctx, "kv/compaction", map[string]any{"revision": resourceVersion, "physical": true}, &struct{}{})
}

// DefragmentEtcd gives the space of what was compacted back.
func (e *Environment) DefragmentEtcd(ctx context.Context) error {
	return e.callEtcd(ctx, "maintenance/defragment", map[string]any{}, &struct{}{})
}

// EtcdHolds reports whether the database file of etcd has a text anywhere. What was written less than a tenth of a
// second ago may not be there yet.
func (e *Environment) EtcdHolds(text string) (bool, error) {
	database, err := os.ReadFile(filepath.Join(e.controlPlane.ControlPlane.Etcd.DataDir, "member", "snap", "db"))
	return bytes.Contains(database, []byte(text)), err
}

// callEtcd calls a method of etcd's JSON gateway.
func (e *Environment) callEtcd(ctx context.Context, method string, arguments, answer any) error {
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	url := e.controlPlane.ControlPlane.Etcd.URL.JoinPath("v3", method).String()
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
