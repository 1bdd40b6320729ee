package main

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/terraform-provider-openstack/terraform-provider-openstack/v3/openstack"
)

const version = "5.5.1"

func upstream() *schema.Provider { return openstack.Provider() }

// Where the official plugin departs from the bridge's own naming rules.
var fieldOverrides = map[string]map[string]*tfbridge.SchemaInfo{}
