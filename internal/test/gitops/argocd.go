// Package gitops computes the health that GitOps tools show, as they do, for tests.
package gitops

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ArgoCDHealth runs a health script as Argo CD does, and returns the status that it gives to an object. Argo CD runs no
// script for an object that is being deleted.
func ArgoCDHealth(script string, object map[string]any) (string, error) {
	if deleted, _, _ := unstructured.NestedString(object, "metadata", "deletionTimestamp"); deleted != "" {
		return "Progressing", nil
	}
	state, err := newState()
	if err != nil {
		return "", err
	}
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", errors.New("the script gives no table")
	}
	return table.RawGetString("status").String(), nil
}

// newState has only the libraries that each version of Argo CD gives to a health script by default.
func newState() (*lua.LState, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name))
		if err != nil {
			state.Close()
			return nil, err
		}
	}
	return state, nil
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, member := range v {
			table.RawSetString(key, luaValue(state, member))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, element := range v {
			table.Append(luaValue(state, element))
		}
		return table
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	}
	return lua.LNil
}
