package sandbox

import (
	"fmt"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

type encodedReport struct {
	FileName    string `json:"file_name"`
	ContentType string `json:"content_type"`
	Content     []byte `json:"content"`
}

type linkedReport struct {
	URL string `json:"url"`
}

// individualReport answers a PDF: the format is not documented.
func (s *Service) individualReport(c *call) (reply, error) {
	person, err := s.account.Report(c.id)
	if err != nil {
		return reply{}, err
	}
	lines := []string{"Verification report (sandbox)", fmt.Sprintf("Individual %d: %s", person.ID, person.Status.Name)}
	for _, check := range person.Checks {
		lines = append(lines, fmt.Sprintf("%s: %s", check.Title, check.Status.Name))
	}
	const pdf = "application/pdf"
	name := fmt.Sprintf("report-%d.pdf", person.ID)
	switch c.dialect.ReportFormat {
	case dialect.ReportBase64:
		return ok(encodedReport{name, pdf, onePage(lines)}), nil
	case dialect.ReportURL:
		// Nobody is there: a client shows the URL and leaves it alone.
		return ok(linkedReport{"https://reports.idv.example/" + name}), nil
	default:
		return reply{status: http.StatusOK, file: onePage(lines), contentType: pdf}, nil
	}
}
