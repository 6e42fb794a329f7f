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
	successNames = strings.Fields("success succeeded successful issuccess ok")
	errorNames   = strings.Fields("error errors errormessage errorcode errordescription exception fault failure")
	codeNames    = strings.Fields("status code statuscode httpstatus")
	resultNames  = strings.Fields("status state result outcome type")
	failureWords = strings.Fields("error errors fail failed failure ko nok denied forbidden unauthorized invalid")

	nextPageNames = strings.Fields("next nextpage nexturl nextlink nextcursor nexttoken nextpagetoken " +
		"hasnext hasmore more")
	countNames = strings.Fields("count total totalcount totalitems totalresults totalrecords totalelements")
	pagesNames = strings.Fields("pages pagecount totalpages lastpage")
)

// DeniesSuccess reports whether an object, or what it wraps, says outright that a request failed: {"success": false}.
func (v Value) DeniesSuccess() bool { return slices.ContainsFunc(v.Layers(false), Value.deniesSuccess) }

func (v Value) deniesSuccess() bool {
	return slices.ContainsFunc(v.Object(), func(m Member) bool {
		return m.Value.isFalse() && slices.Contains(successNames, FoldName(m.Name))
	})
}

// ReportsFailure reports whether JSON says in any way that a request failed: DeniesSuccess, an error, a code above 399,
// or a word for a failure in place of a result. An object with an id is a resource: its members, a state "failed" for
// one, are about that. With names of members that resources have, so is an object with one of them, or in a list.
func (v Value) ReportsFailure(resource ...string) bool {
	return v.Raw() == "false" || slices.ContainsFunc(v.Layers(len(resource) == 0), func(layer Value) bool {
		o := layer.Object()
		isResource := o.HasID() || !o.Get(resource...).IsNull()
		return layer.deniesSuccess() || !isResource && slices.ContainsFunc(o, Member.reportsFailure)
	})
}

func (m Member) reportsFailure() bool {
	name := FoldName(m.Name)
	code, isNumber := m.Value.ID()
	word, isText := m.Value.AsString()
	switch {
	case slices.Contains(errorNames, name) && !m.Value.isEmpty():
		return true
	case slices.Contains(codeNames, name) && isNumber:
		return code >= 400 && code < 600
	default:
		return isText && slices.Contains(resultNames, name) && slices.Contains(failureWords, FoldName(word))
	}
}

const pageLevels = 4 // how deep in a response its page may be described

// HasMore reports whether the response around a list of some length says that there is more than the list.
func (v Value) HasMore(header http.Header, length int) bool {
	_, more := v.NextPage(header)
	v.Walk(pageLevels, func(m Member) bool {
		number, _ := m.Value.ID()
		name := FoldName(m.Name)
		more = more || slices.Contains(countNames, name) && number > int64(length) ||
			slices.Contains(pagesNames, name) && number > 1
		return name != "" // the items of a list are about other things
	})
	return more
}

var nextLink = regexp.MustCompile(`(?i)<([^>]*)>[^,<]*;\s*rel="?next\b`)

// NextPage reports whether a response names a next page, in its JSON or its header (RFC 8288), and the query of its URL
// if that is shown. Only that query is used, so that a response cannot send the token to another address.
func (v Value) NextPage(header http.Header) (query string, more bool) {
	if link := nextLink.FindStringSubmatch(strings.Join(header.Values("Link"), ",")); link != nil {
		return queryOf(link[1]), true
	}
	v.Walk(pageLevels, func(m Member) bool {
		name := FoldName(m.Name)
		if !slices.Contains(nextPageNames, name) {
			return name != ""
		}
		shown, found := m.Value.nextPage()
		query, more = cmp.Or(query, shown), more || found
		return false
	})
	return query, more
}

// nextPage reads the value of a member that is named for the next page: its number, or its URL.
func (v Value) nextPage() (query string, more bool) {
	if number, isNumber := v.ID(); isNumber {
		return "page=" + strconv.FormatInt(number, 10), true
	}
	link, isText := v.AsString()
	if !isText {
		link = v.Object().Text("href", "url")
	}
	return queryOf(link), !v.IsNull() && !v.isFalse() && v.raw != `""`
}

func queryOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return u.RawQuery
}
