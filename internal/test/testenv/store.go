package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// storedAtOnce is below etcd's limit of operations, and of bytes with objects of 16 KiB.
const storedAtOnce = 64

// Store puts objects of a custom resource into etcd, past the API server: hundreds of thousands take minutes and not
// hours. Each needs what the API server would have added: a UID, a generation, apiVersion and kind. The resource is
// group and plural, such as example.com/widgets.
func (e *Environment) Store(ctx context.Context, resource string, objects []client.Object) error {
	type put struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	for len(objects) > 0 {
		var operations []map[string]put
		for _, object := range objects[:min(len(objects), storedAtOnce)] {
			value, err := json.Marshal(object)
			if err != nil {
				return err
			}
			key := path.Join("/registry", resource, object.GetNamespace(), object.GetName())
			operations = append(operations, map[string]put{"request_put": {[]byte(key), value}})
		}
		var answer struct{ Succeeded bool }
		if err := e.callEtcd(ctx, "kv/txn", map[string]any{"success": operations}, &answer); err != nil {
			return err
		}
		if !answer.Succeeded {
			return fmt.Errorf("etcd did not store %d objects of %s", len(operations), resource)
		}
		objects = objects[len(operations):]
	}
	return nil
}
