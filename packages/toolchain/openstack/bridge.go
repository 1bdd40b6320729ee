// pulumi-resource-openstack bridges the Terraform provider on which @pulumi/openstack is based. It
// is built for machines that cannot download the official plugin. The tokens and property names are
// equal to those of the official plugin. The folders v3 and v5 contain the code that is specific to
// one version of the plugin. A build combines one of these folders with the files of this folder.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shimv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// Map from a Terraform resource to its Pulumi type, for all resources that a cluster can contain.
var resourceTokens = map[string]string{
	"openstack_blockstorage_volume_v3":             "blockstorage/volume:Volume",
	"openstack_compute_instance_v2":                "compute/instance:Instance",
	"openstack_compute_interface_attach_v2":        "compute/interfaceAttach:InterfaceAttach",
	"openstack_compute_keypair_v2":                 "compute/keypair:Keypair",
	"openstack_compute_servergroup_v2":             "compute/serverGroup:ServerGroup",
	"openstack_compute_volume_attach_v2":           "compute/volumeAttach:VolumeAttach",
	"openstack_dns_recordset_v2":                   "dns/recordSet:RecordSet",
	"openstack_dns_zone_v2":                        "dns/zone:Zone",
	"openstack_identity_application_credential_v3": "identity/applicationCredential:ApplicationCredential",
	"openstack_identity_ec2_credential_v3":         "identity/ec2CredentialV3:Ec2CredentialV3",
	"openstack_lb_listener_v2":                     "loadbalancer/listener:Listener",
	"openstack_lb_loadbalancer_v2":                 "loadbalancer/loadBalancer:LoadBalancer",
	"openstack_lb_member_v2":                       "loadbalancer/member:Member",
	"openstack_lb_members_v2":                      "loadbalancer/members:Members",
	"openstack_lb_monitor_v2":                      "loadbalancer/monitor:Monitor",
	"openstack_lb_pool_v2":                         "loadbalancer/pool:Pool",
	"openstack_networking_floatingip_associate_v2": "networking/floatingIpAssociate:FloatingIpAssociate",
	"openstack_networking_floatingip_v2":           "networking/floatingIp:FloatingIp",
	"openstack_networking_network_v2":              "networking/network:Network",
	"openstack_networking_port_v2":                 "networking/port:Port",
	"openstack_networking_router_interface_v2":     "networking/routerInterface:RouterInterface",
	"openstack_networking_router_route_v2":         "networking/routerRoute:RouterRoute",
	"openstack_networking_router_v2":               "networking/router:Router",
	"openstack_networking_secgroup_rule_v2":        "networking/secGroupRule:SecGroupRule",
	"openstack_networking_secgroup_v2":             "networking/secGroup:SecGroup",
	"openstack_networking_subnet_v2":               "networking/subnet:Subnet",
	"openstack_networking_trunk_v2":                "networking/trunk:Trunk",
}

// Map from a Terraform data source to its Pulumi function.
var functionTokens = map[string]string{
	"openstack_blockstorage_availability_zones_v3": "blockstorage/getAvailabilityZonesV3:getAvailabilityZonesV3",
	"openstack_blockstorage_quotaset_v3":           "blockstorage/getQuotasetV3:getQuotasetV3",
	"openstack_compute_availability_zones_v2":      "compute/getAvailabilityZones:getAvailabilityZones",
	"openstack_compute_flavor_v2":                  "compute/getFlavor:getFlavor",
	"openstack_compute_limits_v2":                  "compute/getLimitsV2:getLimitsV2",
	"openstack_compute_quotaset_v2":                "compute/getQuotaSetV2:getQuotaSetV2",
	"openstack_dns_zone_v2":                        "dns/getDnsZone:getDnsZone",
	"openstack_identity_auth_scope_v3":             "identity/getAuthScope:getAuthScope",
	"openstack_images_image_ids_v2":                "images/getImageIds:getImageIds",
	"openstack_images_image_v2":                    "images/getImage:getImage",
	"openstack_networking_floatingip_v2":           "networking/getFloatingIp:getFloatingIp",
	"openstack_networking_network_v2":              "networking/getNetwork:getNetwork",
	"openstack_networking_port_v2":                 "networking/getPort:getPort",
	"openstack_networking_quota_v2":                "networking/getQuotaV2:getQuotaV2",
	"openstack_networking_router_v2":               "networking/getRouter:getRouter",
	"openstack_networking_secgroup_v2":             "networking/getSecGroup:getSecGroup",
	"openstack_networking_subnet_ids_v2":           "networking/getSubnetIdsV2:getSubnetIdsV2",
	"openstack_networking_subnet_v2":               "networking/getSubnet:getSubnet",
}

func provider() tfbridge.ProviderInfo {
	info := tfbridge.ProviderInfo{
		P:           shimv2.NewProvider(upstream()),
		Name:        "openstack",
		Version:     version,
		Resources:   map[string]*tfbridge.ResourceInfo{},
		DataSources: map[string]*tfbridge.DataSourceInfo{},
	}
	for name, token := range resourceTokens {
		info.Resources[name] = &tfbridge.ResourceInfo{
			Tok:    tokens.Type("openstack:" + token),
			Fields: fieldOverrides[name],
		}
	}
	for name, token := range functionTokens {
		info.DataSources[name] = &tfbridge.DataSourceInfo{Tok: tokens.ModuleMember("openstack:" + token)}
	}
	return info
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--describe" {
		if err := json.NewEncoder(os.Stdout).Encode(describe(provider())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	schema := fmt.Sprintf(`{"name":"openstack","version":%q}`, version)
	tfbridge.Main("openstack", version, provider(), []byte(schema))
}
