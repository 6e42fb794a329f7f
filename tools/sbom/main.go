// Command sbom writes the bill of materials of a Go program, in the format CycloneDX, from what the go command recorded
// in it: sbom PROGRAM DOCUMENT VERSION
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
)

type document struct {
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "sbom: want a program, the document to write and the version")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, output, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	content, err := json.MarshalIndent(describe(info, version), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(output), append(content, '\n'), 0o644) //nolint:gosec // for everybody
}

func describe(info *debug.BuildInfo, version string) document {
	name := path.Base(info.Path)
	program := component{Type: "application", Ref: info.Path, Name: name, Version: version}
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "GO") || setting.Key == "CGO_ENABLED" {
			program.Properties = append(program.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	// The standard library is a part of the program that advisories are written about.
	standard := component{
		Type: "library", Ref: "std", Name: "std", Version: info.GoVersion,
		PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	d := document{
		BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{program}, Components: []component{standard},
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		url := "pkg:golang/" + module.Path + "@" + module.Version
		d.Components = append(d.Components, component{
			Type: "library", Ref: url, Name: module.Path, Version: module.Version, PURL: url,
		})
	}
	all := dependency{Ref: program.Ref}
	for _, c := range d.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	d.Dependencies = []dependency{all}
	return d
}
