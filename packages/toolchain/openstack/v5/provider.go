package main

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/terraform-provider-openstack/terraform-provider-openstack/v3/openstack"
)

const version = "5.5.1"

func upstream() *schema.Provider { return openstack.Provider() }

// Type that the official plugin gives the values of a map whose Terraform schema names none.
const untypedValue = "string"

// Where the official plugin departs from the bridge's own naming rules.
var fieldOverrides = map[string]map[string]*tfbridge.SchemaInfo{}
