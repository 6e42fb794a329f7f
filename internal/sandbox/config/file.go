package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/strictjson"
)

const listed = "docs/sandbox.md lists the fields"

// Parse decodes and checks a configuration file in YAML, and fills in the defaults. Its errors name the field, and hold
// no credentials and no personal data.
func Parse(file []byte) (Config, error) {
	object, err := toJSON(file)
	if err != nil {
		return Config{}, err
	}
	var c struct {
		Config
		Accounts []json.RawMessage `json:"accounts"` // one by one, so that an error says which
	}
	if err := strictjson.Decode(bytes.NewReader(object), &c, listed); err != nil {
		return Config{}, err
	}
	for i, raw := range c.Accounts {
		var account struct {
			Account
			StartTime *string `json:"start_time"` // a text, so that its error names it and says how a time is written
		}
		err := strictjson.Decode(bytes.NewReader(raw), &account, listed)
		if start := account.StartTime; err == nil && start != nil {
			account.Account.StartTime, err = control.ParseTime("start_time", *start)
		}
		if err != nil {
			return Config{}, fmt.Errorf("accounts[%d]: %w", i, err)
		}
		c.Config.Accounts = append(c.Config.Accounts, account.Account)
	}
	return c.Complete()
}

// toJSON converts YAML to JSON. Dates stay as they are written.
func toJSON(file []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(file)).Decode(&document); errors.Is(err, io.EOF) {
		return []byte("{}"), nil
	} else if err != nil {
		return nil, err
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the file must have fields, such as accounts")
	}
	keepDates(&document)
	var tree any
	if err := document.Decode(&tree); err != nil {
		return nil, err
	}
	object, err := json.Marshal(tree)
	if err != nil {
		return nil, errors.New("every key must be a text")
	}
	return object, nil
}

func keepDates(node *yaml.Node) {
	if node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, child := range node.Content {
		keepDates(child)
	}
}

// Encode writes a configuration file in YAML, which Parse reads.
func (c Config) Encode() ([]byte, error) {
	object, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var document yaml.Node // keeps the order of the fields
	if err := yaml.Unmarshal(object, &document); err != nil {
		return nil, err
	}
	plain(&document)
	return yaml.Marshal(&document)
}

// plain drops the quotes and braces of JSON.
func plain(node *yaml.Node) {
	node.Style = 0
	for _, child := range node.Content {
		plain(child)
	}
}
