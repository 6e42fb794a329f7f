package sandbox

import (
	"bytes"
	"fmt"
)

// onePage returns a PDF of one page. The lines must be plain ASCII without
// parentheses and backslashes, which ours are.
func onePage(lines []string) []byte {
	var text bytes.Buffer
	text.WriteString("BT /F1 12 Tf 16 TL 72 770 Td\n")
	for _, line := range lines {
		fmt.Fprintf(&text, "(%s) Tj T*\n", line)
	}
	text.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var file, table bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start, size := file.Len(), len(objects)+1
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		size, table.String(), size, start)
	return file.Bytes()
}
