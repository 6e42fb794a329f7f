package receiver

import (
	"strings"
	"testing"
)

func TestTokensInURLs(t *testing.T) {
	const hooks = "https://hooks.example.com"
	token := strings.Repeat("t", MinTokenLength)
	for url, want := range map[string]string{
		hooks + "/idv": hooks + "/idv",
		hooks:          hooks,
		"https://u:p@hooks.example.com/idv?key=secret#frag": hooks + "/idv",
		hooks + "/notifications/team-a/default/" + token:    hooks + "/notifications/team-a/default/xxxxx",
		hooks + "/a%2Fb/" + token[1:] + "%2F" + "/x":        hooks + "/a%2Fb/xxxxx/x",
		hooks + "/" + token + "/" + token:                   hooks + "/xxxxx/xxxxx",
		hooks + "/" + token[1:]:                             hooks + "/" + token[1:],
		"://":                                               "its URL",
	} {
		if got := DisplayURL(url); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}
