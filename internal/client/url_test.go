package client

import "testing"

func TestNormalBaseURL(t *testing.T) {
	t.Parallel()
	same := [][2]string{
		{"https://idv.example.com", "https://idv.example.com/"},
		{"https://idv.example.com", "HTTPS://IDV.example.com:443"},
		{"http://127.0.0.1", "http://127.0.0.1:80//"},
		{"https://idv.example.com/a", "https://idv.example.com/a/"},
	}
	for _, pair := range same {
		if first, second := NormalBaseURL(pair[0]), NormalBaseURL(pair[1]); first != second {
			t.Errorf("the URLs %s and %s are of two services: %s, %s", pair[0], pair[1], first, second)
		}
	}
	different := map[string]string{}
	for _, url := range []string{
		"https://idv.example.com", "http://idv.example.com", "https://idv.example.com:8443",
		"https://idv.example.com/a", "https://idv.example.com/A",
	} {
		normal := NormalBaseURL(url)
		if other, exists := different[normal]; exists {
			t.Errorf("%s and %s are of one service", url, other)
		}
		different[normal] = url
	}
}
