package main

import (
	"sort"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim"
)

// shape describes a resource or a function as a program sees it: the properties with their types,
// the inputs whose change replaces the resource, and the secret properties.
type shape struct {
	Inputs   map[string]any `json:"inputs"`
	Outputs  map[string]any `json:"outputs"`
	Replaces []string       `json:"replaces"`
	Secret   []string       `json:"secret"`
}

// described describes the whole plugin as a program sees it. Nested objects are inline.
type described struct {
	Version   string           `json:"version"`
	Provider  map[string]any   `json:"provider"`
	Resources map[string]shape `json:"resources"`
	Functions map[string]shape `json:"functions"`
}

// describe lists the provider's own settings, and the bridged resources and functions.
func describe(info tfbridge.ProviderInfo) described {
	all := described{Version: info.Version, Resources: map[string]shape{}, Functions: map[string]shape{}}
	all.Provider = shapeOf(info.P.Schema(), nil).Inputs
	for name, resource := range info.Resources {
		all.Resources[string(resource.Tok)] = shapeOf(info.P.ResourcesMap().Get(name).Schema(), resource.Fields)
	}
	for name, source := range info.DataSources {
		all.Functions[string(source.Tok)] = shapeOf(info.P.DataSourcesMap().Get(name).Schema(), source.Fields)
	}
	return all
}

func shapeOf(schema shim.SchemaMap, fields map[string]*tfbridge.SchemaInfo) shape {
	s := shape{Inputs: map[string]any{}, Outputs: map[string]any{}, Replaces: []string{}, Secret: []string{}}
	schema.Range(func(key string, value shim.Schema) bool {
		property := tfbridge.TerraformToPulumiNameV2(key, schema, fields)
		s.Outputs[property] = typeOf(value, fields[key])
		if value.Optional() || value.Required() {
			s.Inputs[property] = typeOf(value, fields[key])
			if value.ForceNew() {
				s.Replaces = append(s.Replaces, property)
			}
		}
		if value.Sensitive() {
			s.Secret = append(s.Secret, property)
		}
		return true
	})
	sort.Strings(s.Replaces)
	sort.Strings(s.Secret)
	return s
}

// typeOf returns the type of a property: a word, [element] for a list, {"*": element} for a map, or
// {property: type} for an object.
func typeOf(value shim.Schema, override *tfbridge.SchemaInfo) any {
	switch value.Type() {
	case shim.TypeBool:
		return "boolean"
	case shim.TypeInt:
		return "integer"
	case shim.TypeFloat:
		return "number"
	case shim.TypeString:
		return "string"
	case shim.TypeMap:
		return map[string]any{"*": element(value)}
	default:
		if tfbridge.IsMaxItemsOne(value, override) {
			return element(value)
		}
		return []any{element(value)}
	}
}

func element(value shim.Schema) any {
	switch e := value.Elem().(type) {
	case shim.Resource:
		object := map[string]any{}
		e.Schema().Range(func(key string, nested shim.Schema) bool {
			object[tfbridge.TerraformToPulumiNameV2(key, e.Schema(), nil)] = typeOf(nested, nil)
			return true
		})
		return object
	case shim.Schema:
		return typeOf(e, nil)
	default:
		return untypedValue
	}
}
