import type { Fields, GraphOptions } from "../graph/graph.js";

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster: {certificate-authority-data: Q0E=, server: "https://10.0.0.10:6443"}
users:
- name: kubernetes-admin
  user: {client-certificate-data: Q0VSVA==, client-key-data: ${Buffer.from("CANARY-KEY").toString("base64")}}
`;

/** Seed in base64 (32 bytes). A test can recognize the seed in any text. */
export const canarySeed = Buffer.from("CANARY-SEED-".padEnd(32, "s")).toString("base64");
/** Identity of the cluster in tests. */
export const sampleIdentity = "0123456789ab";
export const canaryCredential = "CANARY-CREDENTIAL";

/** Output of each script, by the role at the end of the script's name. */
const results: Readonly<Record<string, Fields>> = {
  prepare: { kubelet: "1.36.3" },
  init: {
    caCertHash: `sha256:${"a".repeat(64)}`,
    kubeconfig: Buffer.from(kubeconfig).toString("base64"),
    name: `test-${sampleIdentity}`,
    uid: "11111111-2222-3333-4444-555555555555",
    kubernetes: "1.36.3",
  },
  join: { node: "a node", kubernetes: "1.36.3" },
  member: { member: "a member" },
  client: { endings: "a date" },
};

/**
 * Map from the name of a port to its address. All graphs of this process have the same address for
 * a port.
 */
const addresses = new Map<string, string>();
const addressOf = (port: string): string => {
  const known = addresses.get(port) ?? `10.0.0.${String(10 + (addresses.size % 200))}`;
  addresses.set(port, known);
  return known;
};

/**
 * Mock answers of a cloud in which every request succeeds. They contain only the fields that the
 * program reads.
 */
export const cloudAnswers: GraphOptions = {
  lookups: {
    "openstack:images/getImageIds:getImageIds": ({ name }) => ({
      ids: [name === "debian-12" ? "image-id" : `image-${String(name)}`],
    }),
    "openstack:compute/getFlavor:getFlavor": ({ name }) => ({ id: `flavor-${String(name)}` }),
    "openstack:networking/getNetwork:getNetwork": ({ external }) =>
      external === true
        ? { id: "external-network-id", name: "public" }
        : { id: "network-id", name: "office", mtu: 1450, subnets: ["subnet-id"] },
    "openstack:networking/getSubnet:getSubnet": ({ subnetId }) => ({
      id: subnetId,
      name: "machines",
      cidr: "10.0.0.0/24",
      ipVersion: 4,
    }),
    "openstack:networking/getFloatingIp:getFloatingIp": ({ address }) => ({ id: address }),
    "openstack:networking/getSecGroup:getSecGroup": ({ name }) => ({ id: `group-${String(name)}` }),
    "openstack:identity/getAuthScope:getAuthScope": () => ({
      region: "region-one",
      projectId: "project-id",
      roles: [
        { roleId: "1", roleName: "member" },
        { roleId: "2", roleName: "load-balancer_member" },
        { roleId: "3", roleName: "admin" },
      ],
      serviceCatalogs: [
        {
          type: "identity",
          endpoints: [
            { interface: "admin", url: "http://inside:5000", region: "region-one" },
            { interface: "public", url: "https://keystone.example", region: "region-one" },
          ],
        },
      ],
    }),
  },
  outputs: {
    "openstack:networking/network:Network": () => ({ mtu: 1450 }),
    "openstack:networking/router:Router": ({ externalNetworkId }) => ({
      externalFixedIps: externalNetworkId === undefined ? [] : [{ ipAddress: "203.0.113.2" }],
    }),
    "openstack:networking/port:Port": (_inputs, name) => ({
      allFixedIps: [addressOf(name)],
      macAddress: "fa:16:3e:00:00:01",
    }),
    "openstack:networking/floatingIp:FloatingIp": () => ({ address: "203.0.113.7" }),
    "openstack:compute/instance:Instance": ({ availabilityZone }) => ({
      availabilityZone: availabilityZone ?? "nova",
    }),
    "openstack:identity/applicationCredential:ApplicationCredential": () => ({
      secret: canaryCredential,
    }),
    "command:local:Command": (_inputs, name) => ({
      stdout: name.endsWith("-identity") ? sampleIdentity : canarySeed,
    }),
    "command:remote:Command": (_inputs, name) => ({
      stdout: JSON.stringify(results[name.split("-").at(-1) ?? ""] ?? {}),
    }),
    "kubernetes:core/v1:Service": () => ({
      status: { loadBalancer: { ingress: [{ ip: "203.0.113.8" }] } },
    }),
  },
};
