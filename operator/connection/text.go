package connection

// maxText is what the CRDs allow for a text that comes from a service.
const maxText = 256

// Text cuts a text that comes from a service to what a status can hold: a service that says more than anybody thought of
// must not make the status unwritable.
func Text(s string) string {
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return s
}
