package main

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/terraform-provider-openstack/terraform-provider-openstack/openstack"
)

const version = "3.15.2"

func upstream() *schema.Provider { return openstack.Provider() }

// Type of the values of a map whose Terraform schema specifies no type, as in the official plugin.
const untypedValue = "any"

// Properties whose name or type in the official plugin does not follow the rules of the bridge.
var fieldOverrides = map[string]map[string]*tfbridge.SchemaInfo{
	"openstack_compute_servergroup_v2": {"policies": {MaxItemsOne: tfbridge.False()}},
	"openstack_networking_subnet_v2": {
		"allocation_pool":  {Name: "allocationPools"},
		"allocation_pools": {Name: "allocationPoolsCollection"},
	},
}
