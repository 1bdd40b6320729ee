import type { Fields } from "../graph/graph.js";

/**
 * Outputs that the OpenStack provider adds to the inputs of a created resource. Contains only the
 * outputs that a plan reads.
 */
export type ProviderAnswers = Readonly<Record<string, (inputs: Fields) => Fields>>;

const first = (list: unknown): Fields => (list as readonly Fields[] | undefined)?.[0] ?? {};
const list = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[];

const common = (inputs: Fields): Fields => ({
  description: inputs["description"] ?? "",
  region: "region-one",
  tenantId: "project-id",
  allTags: inputs["tags"] ?? [],
});

export const providerAnswers: ProviderAnswers = {
  "openstack:networking/network:Network": (inputs) => ({
    ...common(inputs),
    availabilityZoneHints: [],
    dnsDomain: "",
    external: false,
    portSecurityEnabled: true,
    qosPolicyId: "",
    segments: [],
    shared: false,
    transparentVlan: false,
  }),
  "openstack:networking/subnet:Subnet": (inputs) => ({
    ...common(inputs),
    allocationPools: [{ start: "10.0.0.2", end: "10.0.0.254" }],
    allocationPoolsCollection: [{ start: "10.0.0.2", end: "10.0.0.254" }],
    enableDhcp: true,
    gatewayIp: "10.0.0.1",
    ipv6AddressMode: "",
    ipv6RaMode: "",
    noGateway: false,
    serviceTypes: [],
    subnetpoolId: "",
  }),
  "openstack:networking/router:Router": (inputs) => ({
    ...common(inputs),
    availabilityZoneHints: [],
    distributed: false,
    enableSnat: true,
    externalFixedIps: [{ ipAddress: "203.0.113.2", subnetId: "external-subnet-id" }],
    externalGateway: inputs["externalNetworkId"],
  }),
  "openstack:networking/routerInterface:RouterInterface": () => ({
    forceDestroy: false,
    portId: "router-port-id",
    region: "region-one",
  }),
  "openstack:networking/port:Port": (inputs) => ({
    ...common(inputs),
    allSecurityGroupIds: inputs["securityGroupIds"],
    allowedAddressPairs: list(inputs["allowedAddressPairs"]).map((pair) => ({
      macAddress: "",
      ...pair,
    })),
    binding: { hostId: "", profile: "", vifDetails: {}, vifType: "", vnicType: "normal" },
    deviceId: "",
    deviceOwner: "",
    dnsAssignments: [],
    dnsName: "",
    extraDhcpOptions: [],
    fixedIps: list(inputs["fixedIps"]).map((fixed) => ({ ipAddress: "", ...fixed })),
    macAddress: "fa:16:3e:00:00:01",
    portSecurityEnabled: true,
    qosPolicyId: "",
  }),
  "openstack:networking/floatingIp:FloatingIp": (inputs) => ({
    ...common(inputs),
    dnsDomain: "",
    dnsName: "",
    fixedIp: "10.0.0.10",
    description: inputs["description"],
  }),
  "openstack:networking/secGroup:SecGroup": (inputs) => ({
    ...common(inputs),
    description: inputs["description"] ?? "",
  }),
  "openstack:compute/serverGroup:ServerGroup": () => ({ members: [], region: "region-one" }),
  "openstack:compute/instance:Instance": (inputs) => ({
    accessIpV4: "10.0.0.10",
    accessIpV6: "",
    allMetadata: inputs["metadata"],
    allTags: [],
    flavorName: "medium",
    forceDelete: false,
    imageName: "debian-12",
    networks: [
      {
        accessNetwork: false,
        fixedIpV4: "10.0.0.10",
        fixedIpV6: "",
        floatingIp: "",
        mac: "fa:16:3e:00:00:01",
        name: "dev",
        port: first(inputs["networks"])["port"],
        uuid: "dev-network-network-id",
      },
    ],
    powerState: "active",
    region: "region-one",
    securityGroups: [],
    stopBeforeDestroy: false,
  }),
};
