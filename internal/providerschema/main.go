// Command providerschema adds the provider's actions to the output of `tofu providers schema -json`, which it reads
// from standard input, for tfplugindocs. OpenTofu has no actions and omits them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	actions, err := actionSchemas(ctx)
	if err != nil {
		return err
	}
	for _, schemas := range printed.Schemas {
		schemas["action_schemas"] = actions
	}
	return json.NewEncoder(os.Stdout).Encode(printed)
}

// The format of action schemas in the output of Terraform.
type (
	actionSchema struct {
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

func actionSchemas(ctx context.Context) (json.RawMessage, error) {
	server, err := providerserver.NewProtocol6WithError(provider.New("schema")())()
	if err != nil {
		return nil, err
	}
	resp, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	schemas := map[string]actionSchema{}
	for name, action := range resp.ActionSchemas {
		if len(action.Schema.Block.BlockTypes) > 0 {
			return nil, errors.New(name + ": blocks in actions are not supported")
		}
		schemas[name] = actionSchema{blockOf(action.Schema.Block)}
	}
	return json.Marshal(schemas)
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
