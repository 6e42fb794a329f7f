package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxFilesOfCreate is how many files a reader opens to follow one create from the watch to the status.
const maxFilesOfCreate = 8

func TestFilesOfCreate(t *testing.T) {
	const page, heading = "docs/create-protocol.md", "## Follow one create through the code\n"
	files := textFiles(t)
	_, section, found := strings.Cut(string(files[page]), heading)
	if !found {
		t.Fatalf("%s has no section %q", page, strings.TrimSpace(heading))
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, item := range regexp.MustCompile("(?m)^\\d+\\. +`([^`]+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, item[1])
		if _, ok := files[item[1]]; !ok {
			t.Errorf("%s: there is no file %s", page, item[1])
		}
	}
	slices.Sort(named)
	if distinct := len(slices.Compact(named)); distinct == 0 || distinct > maxFilesOfCreate {
		t.Errorf("%s names %d files, want 1 to %d", page, distinct, maxFilesOfCreate)
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
	for _, page := range []string{"docs/architecture.md", "docs/create-protocol.md"} {
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
