// Command generate-sdk writes the SDKs of a Pulumi package, as the language hosts do for `pulumi
// package gen-sdk`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	gocodegen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(schemaFile, directory string) error {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
	if err != nil {
		return err
	}
	if diagnostics.HasErrors() {
		return diagnostics
	}
	pkg.SupportPack = true
	inPython, err := python.GeneratePackage("pulumi", pkg, nil, nil)
	if err != nil {
		return err
	}
	inGo, err := gocodegen.GeneratePackage("pulumi", pkg, nil)
	if err != nil {
		return err
	}
	for language, files := range map[string]map[string][]byte{"python": inPython, "go": inGo} {
		for name, content := range files {
			file := filepath.Join(directory, language, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
