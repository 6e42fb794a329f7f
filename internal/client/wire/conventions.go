package wire

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names and words, folded, with which other services say that a request failed or that a list has more pages. The
// interface shows no such response: our reading.
var (
	successNames = words("success succeeded successful issuccess ok")
	errorNames   = words("error errors errormessage errorcode errordescription exception fault failure")
	codeNames    = words("status code statuscode httpstatus")
	resultNames  = words("status state result outcome type")
	failureWords = words("error errors fail failed failure ko nok denied forbidden unauthorized invalid")

	nextPageNames = words("next nextpage nexturl nextlink nextcursor nexttoken nextpagetoken hasnext hasmore more")
	countNames    = words("count total totalcount totalitems totalresults totalrecords totalelements")
	pagesNames    = words("pages pagecount totalpages lastpage")
)

// DeniesSuccess reports whether an object says outright that a request did not succeed, such as {"success": false},
// also in the usual wrappers.
func (v Value) DeniesSuccess() bool { return v.anyWrapped(false, Object.deniesSuccess) }

func (o Object) deniesSuccess() bool {
	return slices.ContainsFunc(o, func(m Member) bool { return m.Value.isFalse() && successNames[FoldName(m.Name)] })
}

// ReportsFailure reports whether JSON says in any way that a request failed: DeniesSuccess, an error, a code above 399,
// or a word for a failure in place of a result. An object with an id is a resource: its members, a state "failed" for
// one, are about that. With names of members that resources have, so is an object with one of them, or in a list.
func (v Value) ReportsFailure(resource ...string) bool {
	return v.Raw() == "false" || v.anyWrapped(len(resource) == 0, func(o Object) bool {
		isResource := o.HasID() || !o.Get(resource...).IsNull()
		return o.deniesSuccess() || !isResource && slices.ContainsFunc(o, Member.reportsFailure)
	})
}

func (m Member) reportsFailure() bool {
	name := FoldName(m.Name)
	code, isNumber := m.Value.ID()
	word, isText := m.Value.AsString()
	switch {
	case errorNames[name] && !m.Value.isEmpty():
		return true
	case codeNames[name] && isNumber:
		return code >= 400 && code < 600
	default:
		return isText && resultNames[name] && failureWords[FoldName(word)]
	}
}

// anyWrapped looks into an object and those that it wraps, and if wanted into lists of one.
func (v Value) anyWrapped(inLists bool, holds func(Object) bool) bool {
	level := []Value{v}
	for range MaxWrappers + 1 {
		var inner []Value
		for _, value := range level {
			if holds(value.Object()) {
				return true
			}
			if inLists || value.IsObject() {
				inner = append(inner, value.Wrapped()...)
			}
		}
		level = inner
	}
	return false
}

// HasMore reports whether the JSON around a list of some length says that there is more than the list.
func (v Value) HasMore(length int) bool { return v.hasMore(length, 4) }

func (v Value) hasMore(length, depth int) bool {
	return depth > 0 && slices.ContainsFunc(v.Object(), func(m Member) bool {
		number, _ := m.Value.ID()
		switch name := FoldName(m.Name); {
		case nextPageNames[name]:
			return m.isNextPage()
		case countNames[name]:
			return number > int64(length)
		case pagesNames[name]:
			return number > 1
		default:
			return m.Value.hasMore(length, depth-1)
		}
	})
}

var nextLink = regexp.MustCompile(`(?i)<([^>]*)>[^,<]*;\s*rel="?next\b`)

// HasNextLink reports whether a header names a next page (RFC 8288).
func HasNextLink(header http.Header) bool { return nextInHeader(header) != nil }

func nextInHeader(header http.Header) []string {
	return nextLink.FindStringSubmatch(strings.Join(header.Values("Link"), ","))
}

// NextPage reports whether a response names a next page, and the query of its URL if that is shown. Only the query of
// what the service names is used, so that a response cannot send the token to another address.
func (v Value) NextPage(header http.Header) (query string, more bool) {
	if link := nextInHeader(header); link != nil {
		return queryOf(link[1]), true
	}
	return v.nextPage(4)
}

func (v Value) nextPage(depth int) (query string, more bool) {
	if depth == 0 {
		return "", false
	}
	for _, m := range v.Object() {
		inner, found := m.nextPage(depth)
		if query, more = cmp.Or(query, inner), more || found; query != "" {
			break
		}
	}
	return query, more
}

func (m Member) nextPage(depth int) (query string, more bool) {
	if !nextPageNames[FoldName(m.Name)] {
		return m.Value.nextPage(depth - 1)
	}
	if number, isNumber := m.Value.ID(); isNumber {
		return "page=" + strconv.FormatInt(number, 10), true
	}
	link, isText := m.Value.AsString()
	if !isText {
		link = m.Value.Object().Text("href", "url")
	}
	return queryOf(link), m.isNextPage()
}

// isNextPage is of a member with one of the nextPageNames.
func (m Member) isNextPage() bool {
	return !m.Value.IsNull() && !m.Value.isFalse() && m.Value.Raw() != `""`
}

func queryOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return u.RawQuery
}
