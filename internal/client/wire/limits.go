package wire

// What a response costs when it is read is not bounded by its bytes: a megabyte of {} is 350,000 individuals. Each
// limit here is above what the shapes of the interface reach within MaxBytes, so that no plausible response meets it.
const (
	// maxDepth of objects and lists. The deepest value of the interface, in the results of a check of an individual of an
	// application, is in seven; objects around a response add a few.
	maxDepth   = 32
	MaxBytes   = 1 << 20       // of a response that is JSON
	maxValues  = MaxBytes / 8  // in a response; a documented value and its name take more than eight bytes
	maxEntries = 10_000        // of one object or list; a longest plausible one has all countries or document types
	maxObjects = MaxBytes / 64 // each may become 250 bytes; a documented individual takes more than 400
	MaxName    = 256           // of a member that may be one of the interface's, with characters between words
)

// LimitError says which limit a response exceeds. It is one of a few fixed texts.
type LimitError string

// Error implements error.
func (e LimitError) Error() string { return string(e) }

// checkSize finds the limits that can be told without decoding. It allocates nothing.
func checkSize(data []byte) error {
	var entries [maxDepth + 1]int // of each object and list that is open
	var depth, values, objects int
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '}', ']':
			depth = max(depth-1, 0)
		case '{', '[':
			depth++
			if depth > maxDepth {
				return LimitError("the response is nested too deeply")
			}
			entries[depth] = 0
			if data[i] == '{' {
				objects++
			}
			fallthrough
		case ',':
			entries[depth]++
			values++
			if entries[depth] > maxEntries || values > maxValues || objects > maxObjects {
				return LimitError("the response holds too many values")
			}
		}
	}
	return nil
}
