package printable

import "testing"

func TestContainsSecret(t *testing.T) {
	for _, c := range []struct {
		text, secret, why string
		want              bool
	}{
		{"Not s3cr3t/value", "s3cr3t/value", "as it is", true},
		{"Not S3CR3T/VALUE", "s3cr3t/value", "in another letter case", true},
		{"Not s3cr3t", "s3cr3t/value", "a word of it", true},
		{"?key=s3cr3t%2Fvalue", "s3cr3t/value", "as in a URL", true},
		{"Basic czNjcjN0L3ZhbHVl", "s3cr3t/value", "in base64", true},
		{"Not found", "s3cr3t/value", "nothing of it", false},
		{"The pin is wrong", "pin", "a short one, as a word", true},
		{"Spinning", "pin", "a short one, by chance", false},
	} {
		if got := ContainsSecret(c.text, c.secret); got != c.want {
			t.Errorf("%s: ContainsSecret(%q, %q) = %t", c.why, c.text, c.secret, got)
		}
	}
}

func TestHide(t *testing.T) {
	for name, want := range map[string]string{
		"anna":             "Not xxxxx, nor xxxxxbelle, nor u",
		"u":                "Not Anna, nor annabelle, nor xxxxx",
		"":                 "Not Anna, nor annabelle, nor u",
		"anna@example.com": "Not Anna, nor annabelle, nor u",
	} {
		if got := Hide("Not Anna, nor annabelle, nor u", name, ""); got != want {
			t.Errorf("user %q: %q, want %q", name, got, want)
		}
	}
}
