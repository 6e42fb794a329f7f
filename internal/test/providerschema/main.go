// Command providerschema adds the provider's actions and list resources to the output of `tofu providers schema -json`,
// which it reads from standard input, for tfplugindocs. OpenTofu has neither and omits them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/provider"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "providerschema:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var printed struct {
		FormatVersion string                                `json:"format_version"`
		Schemas       map[string]map[string]json.RawMessage `json:"provider_schemas"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&printed); err != nil {
		return err
	}
	added, err := addedSchemas(ctx)
	if err != nil {
		return err
	}
	for _, schemas := range printed.Schemas {
		maps.Copy(schemas, added)
	}
	return json.NewEncoder(os.Stdout).Encode(printed)
}

// The format of schemas in the output of Terraform.
type (
	kindSchema struct {
		Block block `json:"block"`
	}
	block struct {
		Attributes      map[string]attribute `json:"attributes"`
		Description     string               `json:"description"`
		DescriptionKind string               `json:"description_kind"`
	}
	attribute struct {
		Type            any    `json:"type"`
		Description     string `json:"description"`
		DescriptionKind string `json:"description_kind"`
		Required        bool   `json:"required,omitempty"`
		Optional        bool   `json:"optional,omitempty"`
	}
)

func addedSchemas(ctx context.Context) (map[string]json.RawMessage, error) {
	server, err := providerserver.NewProtocol6WithError(provider.New("schema")())()
	if err != nil {
		return nil, err
	}
	resp, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	blocks := map[string]map[string]*tfprotov6.SchemaBlock{"action_schemas": {}, "list_resource_schemas": {}}
	for name, action := range resp.ActionSchemas {
		blocks["action_schemas"][name] = action.Schema.Block
	}
	for name, list := range resp.ListResourceSchemas {
		blocks["list_resource_schemas"][name] = list.Block
	}
	added := map[string]json.RawMessage{}
	for kind, named := range blocks {
		schemas := map[string]kindSchema{}
		for name, block := range named {
			if len(block.BlockTypes) > 0 {
				return nil, errors.New(name + ": blocks in " + kind + " are not supported")
			}
			schemas[name] = kindSchema{blockOf(block)}
		}
		if added[kind], err = json.Marshal(schemas); err != nil {
			return nil, err
		}
	}
	return added, nil
}

func blockOf(schema *tfprotov6.SchemaBlock) block {
	attributes := map[string]attribute{}
	for _, a := range schema.Attributes {
		attributes[a.Name] = attribute{a.Type, a.Description, kindOf(a.DescriptionKind), a.Required, a.Optional}
	}
	return block{attributes, schema.Description, kindOf(schema.DescriptionKind)}
}

func kindOf(kind tfprotov6.StringKind) string {
	if kind == tfprotov6.StringKindMarkdown {
		return "markdown"
	}
	return "plain"
}
