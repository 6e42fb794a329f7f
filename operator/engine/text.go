package engine

// maxText is what the CRDs allow for a text that comes from a service.
const maxText = 256

// TruncateText cuts a text that comes from a service to what the CRDs allow, so that no text makes a status invalid.
func TruncateText(s string) string {
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return s
}
