package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

type encodedReport struct {
	FileName    string `json:"file_name"`
	ContentType string `json:"content_type"`
	Content     []byte `json:"content"`
}

type linkedReport struct {
	URL string `json:"url"`
}

// individualReport returns a PDF by default. The interface does not document the format.
func (a *account) individualReport(r *request) (response, error) {
	const pdf = "application/pdf"
	if r.dialect.ReportAccept == dialect.ReportAcceptPDF && !accepts(r.Header.Get("Accept"), pdf) {
		return response{}, &statusError{status: http.StatusNotAcceptable, title: "The report is a PDF"}
	}
	person, err := a.data.Report(r.id)
	if _, waits := errors.AsType[*state.RefusedError](err); waits {
		switch r.dialect.ReportNotReady {
		case dialect.ReportProcessing200:
			return ok(map[string]any{"status": "processing"}), nil
		case dialect.ReportProcessing202:
			return response{status: http.StatusAccepted}, nil
		case dialect.ReportHTML200:
			return response{status: http.StatusOK, file: htmlPage("The report is not ready"), contentType: mediaHTML}, nil
		}
	}
	if err != nil {
		return response{}, err
	}
	lines := []string{
		"Verification report (sandbox)", fmt.Sprintf("Individual %d: %s", person.ID, person.Status.Name),
	}
	for _, check := range person.Checks {
		lines = append(lines, fmt.Sprintf("%s: %s", check.Title, check.Status.Name))
	}
	name := fmt.Sprintf("report-%d.pdf", person.ID)
	switch r.dialect.ReportFormat {
	case dialect.ReportBase64:
		return ok(encodedReport{name, pdf, singlePagePDF(lines)}), nil
	case dialect.ReportURL:
		// The URL leads nowhere: a client shows it and does not follow it.
		return ok(linkedReport{"https://reports.idv.example/" + name}), nil
	default:
		return response{status: http.StatusOK, file: singlePagePDF(lines), contentType: pdf}, nil
	}
}

// accepts reports whether an Accept header admits a media type.
func accepts(header, mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	for one := range strings.SplitSeq(header, ",") {
		name, parameters, _ := mime.ParseMediaType(one)
		if (name == mediaType || name == kind+"/*" || name == "*/*") && parameters["q"] != "0" {
			return true
		}
	}
	return header == ""
}

// singlePagePDF returns a PDF of one page. The lines must be plain ASCII without parentheses and backslashes.
func singlePagePDF(lines []string) []byte {
	var text bytes.Buffer
	text.WriteString("BT /F1 12 Tf 16 TL 72 770 Td\n")
	for _, line := range lines {
		fmt.Fprintf(&text, "(%s) Tj T*\n", line)
	}
	text.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R " +
			"/Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var file, table bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := file.Len()
	size := len(objects) + 1
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n%s", size, table.String())
	fmt.Fprintf(&file, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", size, start)
	return file.Bytes()
}
