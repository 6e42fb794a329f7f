package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxStays is how many files a reader opens to follow one value through the code.
const maxStays = 10

// Each walk of docs/architecture.md goes through few files, and comes back to none.
func TestWalks(t *testing.T) {
	const page = "docs/architecture.md"
	files := textFiles(t)
	_, walks, _ := strings.Cut(string(files[page]), "\n## Three walks\n")
	walks, _, _ = strings.Cut(walks, "\n## ")
	sections := strings.Split(walks, "\n### ")[1:]
	if len(sections) != 3 {
		t.Fatalf("%s has %d walks, want 3", page, len(sections))
	}
	for _, section := range sections {
		title, steps, _ := strings.Cut(section, "\n")
		var stays []string
		for _, item := range regexp.MustCompile("(?m)^\\d+\\. +`([^`]+)`").FindAllStringSubmatch(steps, -1) {
			file := item[1]
			if _, ok := files[file]; !ok {
				t.Errorf("%s, %s: there is no file %s", page, title, file)
			}
			if slices.Contains(stays, file) {
				t.Errorf("%s, %s: it comes back to %s", page, title, file)
			}
			stays = append(stays, file)
		}
		if len(stays) == 0 || len(stays) > maxStays {
			t.Errorf("%s, %s: %d files, want 1 to %d", page, title, len(stays), maxStays)
		}
	}
}

// An apply of the provider goes through at most fifteen of its files, and ten of the client.
func TestWalkOfAnApply(t *testing.T) {
	const page = "docs/architecture.md"
	_, walk, _ := strings.Cut(string(textFiles(t)[page]), "\n## An apply of a webhook subscription\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	for dir, limit := range map[string]int{"provider": 15, "internal/client": 10} {
		items := regexp.MustCompile("(?m)^\\d+\\. +`("+dir+"/[^`]+)`").FindAllString(walk, -1)
		if len(items) == 0 || len(items) > limit {
			t.Errorf("%s: %d files of %s, want 1 to %d", page, len(items), dir, limit)
		}
	}
}

// TestDecisionTreeHasEveryAlert holds that a person on call who has an alert finds it in the table of questions.
func TestDecisionTreeHasEveryAlert(t *testing.T) {
	const page = "docs/runbooks.md"
	header, sections, found := strings.Cut(string(textFiles(t)[page]), "\n## IDV")
	alerts := regexp.MustCompile(`(?m)^## (IDV\w+)$`).FindAllStringSubmatch("## IDV"+sections, -1)
	if !found || len(alerts) < 2 {
		t.Fatalf("%s has %d alerts", page, len(alerts))
	}
	for _, alert := range alerts {
		if link := "[" + alert[1] + "](#" + strings.ToLower(alert[1]) + ")"; strings.Count(header, link) != 1 {
			t.Errorf("%s: the table of questions has %d links to %s, want 1", page, strings.Count(header, link), alert[1])
		}
	}
}

// TestPathsOfPages looks for the files and directories that the pages about the code have in backquotes.
func TestPathsOfPages(t *testing.T) {
	files := textFiles(t)
	exists := map[string]bool{}
	for name := range files {
		for ; name != "."; name = path.Dir(name) {
			exists[name] = true
		}
	}
	quoted := regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+)/?`")
	for _, page := range []string{"docs/architecture.md", contributing} {
		paths := 0
		for _, match := range quoted.FindAllStringSubmatch(string(files[page]), -1) {
			top, _, _ := strings.Cut(match[1], "/")
			if !exists[top] {
				continue // a media type, a module, a path of the service
			}
			paths++
			if !exists[match[1]] {
				t.Errorf("%s: there is no %s", page, match[1])
			}
		}
		if paths == 0 {
			t.Errorf("%s names no path", page)
		}
	}
}
