import type { Fields, Row } from "../../../../test/support/graph/graph.js";

/**
 * Map from a resource type to its name in Terraform. A type without a name causes an error, so that
 * no resource is left out.
 */
const types: Readonly<Record<string, string>> = {
  "openstack:networking/network:Network": "openstack_networking_network_v2",
  "openstack:networking/subnet:Subnet": "openstack_networking_subnet_v2",
  "openstack:networking/router:Router": "openstack_networking_router_v2",
  "openstack:networking/routerInterface:RouterInterface":
    "openstack_networking_router_interface_v2",
  "openstack:networking/secGroup:SecGroup": "openstack_networking_secgroup_v2",
  "openstack:networking/secGroupRule:SecGroupRule": "openstack_networking_secgroup_rule_v2",
  "openstack:networking/port:Port": "openstack_networking_port_v2",
  "openstack:networking/floatingIp:FloatingIp": "openstack_networking_floatingip_v2",
  "openstack:compute/serverGroup:ServerGroup": "openstack_compute_servergroup_v2",
  "openstack:compute/instance:Instance": "openstack_compute_instance_v2",
  "openstack:identity/applicationCredential:ApplicationCredential":
    "openstack_identity_application_credential_v3",
  "openstack:loadbalancer/loadBalancer:LoadBalancer": "openstack_lb_loadbalancer_v2",
  "openstack:loadbalancer/listener:Listener": "openstack_lb_listener_v2",
  "openstack:loadbalancer/pool:Pool": "openstack_lb_pool_v2",
  "openstack:loadbalancer/monitor:Monitor": "openstack_lb_monitor_v2",
  "openstack:loadbalancer/member:Member": "openstack_lb_member_v2",
};

/** Inputs that are lists in Pulumi. In Terraform, each element is a block with a singular name. */
const singular: Readonly<Record<string, string>> = {
  fixedIps: "fixed_ip",
  networks: "network",
  blockDevices: "block_device",
  allocationPools: "allocation_pool",
};

/** Inputs that are a string in Pulumi and a list with this string in Terraform. */
const lists: readonly string[] = ["policies"];

const named = (key: string): string =>
  singular[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Inputs that are maps. Their keys are not translated. */
const maps: readonly string[] = ["metadata", "valueSpecs"];

const translated = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(translated);
  if (typeof value !== "object" || value === null) return value;
  return inputsOf(value as Fields);
};

const inputsOf = (inputs: Fields): Fields =>
  Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => [
      named(key),
      maps.includes(key) ? value : lists.includes(key) ? [value].flat() : translated(value),
    ]),
  );

/** Returns the name with only the characters that Terraform allows. */
export const getTerraformLabel = (name: string): string => name.replace(/[^\w-]/g, "_");

/** Returns the Terraform address of a resource. Throws if the type is unknown. */
export function getTerraformAddress({ type, name }: Pick<Row, "type" | "name">): string {
  const known = types[type];
  if (known === undefined)
    throw new Error(
      `${type} has no name in Terraform: packages/bench/support/terraform/resources.ts.`,
    );
  return `${known}.${getTerraformLabel(name)}`;
}

/** Returns the resource in Terraform's spelling. Strings are unchanged. */
export const getTerraformResource = ({
  inputs,
  ignoreChanges,
}: Pick<Row, "inputs" | "ignoreChanges">) => ({
  ...inputsOf(inputs),
  ...(ignoreChanges.length > 0 && { lifecycle: { ignore_changes: ignoreChanges.map(named) } }),
});
