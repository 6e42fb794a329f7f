// Package gitops computes the health that GitOps tools show, as they do, for tests.
package gitops

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// ArgoCDHealth runs a health script as Argo CD does, and returns the status that it gives to an object.
func ArgoCDHealth(script string, object map[string]any) (string, error) {
	state := lua.NewState()
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
