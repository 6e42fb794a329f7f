package client

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// The interface shows no pagination. These are the names with which other services say that a list has more pages.
var (
	nextPageNames = []string{
		"next", "next_page", "next_url", "next_link", "next_cursor", "next_token", "next_page_token", "has_next", "has_more",
		"more",
	}
	countNames = []string{
		"count", "total", "total_count", "total_items", "total_results", "total_records", "total_elements",
	}
	pagesNames = []string{"pages", "page_count", "total_pages", "last_page"}
)

// hasMore reports whether the JSON around a list of some length says that there is more than the list.
func hasMore(raw json.RawMessage, length, depth int) bool {
	o, _ := asObject(raw)
	return depth < 4 && slices.ContainsFunc(o, func(m member) bool {
		number, _ := parseID(m.value)
		switch {
		case m.named(nextPageNames):
			return !isNull(m.value) && !slices.Contains([]string{"false", `""`, "0"}, string(m.value))
		case m.named(countNames):
			return number > int64(length)
		case m.named(pagesNames):
			return number > 1
		default:
			return hasMore(m.value, length, depth+1)
		}
	})
}

var nextLink = regexp.MustCompile(`(?i);\s*rel="?next\b`)

// hasNextLink reports whether a header names a next page (RFC 8288).
func hasNextLink(header http.Header) bool {
	return nextLink.MatchString(strings.Join(header.Values("Link"), ","))
}
