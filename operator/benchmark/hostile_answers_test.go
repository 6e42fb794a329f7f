package benchmark_test

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// place is which answers of a service are costly.
type place int

const (
	references place = iota
	created
	application
	problem
	report
	slowly // an application, of which the last byte never comes
)

// costly is an answer below the limit of bytes that costs as much as possible to read. In what is sent, ID and
// REFERENCE stand for those of an application.
type costly struct {
	name  string
	place place
	body  string
}

const (
	megabyte     = 1 << 20
	maxItems     = 5_000
	maxListItems = 9_999
)

// filled repeats an item as often as a limit of bytes and of items allows.
func filled(before, item, after string, most int) string {
	n := min((megabyte-len(before)-len(after)-200)/(len(item)+1), most)
	return before + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + after
}

// numbered is filled with items that differ: %d in the item is its number.
func numbered(before, item, after string, most int) string {
	var b strings.Builder
	b.WriteString(before)
	for i := range most {
		next := fmt.Sprintf(item, i)
		if b.Len()+len(next)+len(after)+200 > megabyte {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(next)
	}
	return b.String() + after
}

const (
	kyc     = `{"mandate_types":[{"id":1,"name":"KYC","code":"kyc"}`
	shown   = `{"id":ID,"reference":"REFERENCE","status":{"id":1,"status":"in review"}`
	jane    = `{"id":ID,"reference":"REFERENCE.jane","status":{"id":1,"status":"invited"}`
	noLimit = 1 << 30
)

// costlyAnswers are twenty ways to be expensive: beyond the limits of items, and just within them.
func costlyAnswers() []costly {
	name := strings.Repeat("n", 60)
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n" + strings.Repeat("report ", 100_000)))
	return []costly{
		{"mandate types without text", references, filled(kyc+",", `""`, `]}`, noLimit)},
		{"empty mandate types", references, filled(kyc+",", `{}`, `]}`, noLimit)},
		{"mandate types just within the limits", references, numbered(kyc+",", `{"id":1%04d,"name":"`+name+name+name+`"}`,
			`]}`, 1_999)},
		{"empty individuals", application, filled(shown+`,"individuals":[`, `{}`, `]}`, noLimit)},
		{"individuals just within the limits", application, numbered(shown+`,"individuals":[`,
			`{"id":%d,"reference":"`+name+`"}`, `]}`, 2_600)},
		{"empty checks", application, filled(shown+`,"individuals":[`+jane+`,"checks":[`, `{}`, `]}]}`, noLimit)},
		{"checks just within the limits", application, numbered(shown+`,"individuals":[`+jane+`,"checks":[`,
			`{"id":%d,"name":"`+name+`"}`, `]}]}`, maxItems)},
		{"empty actions", application, filled(shown+`,"available_actions":[`, `{}`, `]}`, noLimit)},
		{"many members", application, filled(shown+`,`, `"":0`, `}`, noLimit)},
		{"members just within the limits", application, filled(shown+`,"individuals":[`,
			filled(`{`, `"":0`, `}`, maxListItems), `]}`, 12)},
		{"nested deeply", application, shown + `,"x":` + strings.Repeat("[", megabyte/2-200) +
			strings.Repeat("]", megabyte/2-200) + `}`},
		{"long names", application, filled(shown+`,`, `"`+strings.Repeat("é_", 20_000)+`":0`, `}`, noLimit)},
		{"a long text", application, shown + `,"name":"` + strings.Repeat("x", megabyte-200) + `"}`},
		{"a text that is no UTF-8", application, shown + `,"name":"` + strings.Repeat("\xff", megabyte-200) + `"}`},
		{"a response that does not end", slowly, filled(shown+`,"individuals":[`, `{}`, ``, noLimit)},
		{"a problem with many fields", problem, filled(`{"title":"x","exception":{`, `"":[""]`, `}}`, noLimit)},
		{"a problem with many messages", problem, filled(`{"title":"x","exception":{"individuals":[`, `{"email":["x"]}`,
			`]}}`, maxListItems)},
		{"much beside the id of what was created", created, filled(shown+`,`, `"a":{}`, `}`, maxListItems)},
		{"a report of empty objects", report, filled(`[`, `{}`, `]`, noLimit)},
		{"a large report", report, `{"report":"` + pdf + `"}`},
	}
}
