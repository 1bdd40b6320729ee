package main

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/terraform-provider-openstack/terraform-provider-openstack/v3/openstack"
)

const version = "5.5.1"

func upstream() *schema.Provider { return openstack.Provider() }

// Type of the values of a map whose Terraform schema specifies no type, as in the official plugin.
const untypedValue = "string"

// Properties whose name or type in the official plugin does not follow the rules of the bridge.
var fieldOverrides = map[string]map[string]*tfbridge.SchemaInfo{}
