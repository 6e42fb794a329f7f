module github.com/mandate-io/idv/tools/sbom

go 1.26.0
