// Node loads this file before a program. It installs mocks of Pulumi, with which every operation
// succeeds. After the program has registered all resources, this file prints the resources as JSON.
import pulumi from "@pulumi/pulumi";
import { getMonitor } from "@pulumi/pulumi/runtime/settings.js";

const base64 = (text) => Buffer.from(text).toString("base64");
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster: {certificate-authority-data: Q0E=, server: "https://10.0.0.10:6443"}
users:
- name: kubernetes-admin
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
`;
const result = {
  kubelet: "1.36.3",
  caCertHash: `sha256:${"a".repeat(64)}`,
  kubeconfig: base64(kubeconfig),
  name: "dev-0123456789ab",
  uid: "11111111-2222-3333-4444-555555555555",
  node: "a node",
  kubernetes: "1.36.3",
};
const answers = {
  "openstack:networking/network:Network": () => ({ mtu: 1450 }),
  "openstack:networking/port:Port": () => ({ allFixedIps: ["10.0.0.10"] }),
  "openstack:networking/floatingIp:FloatingIp": () => ({ address: "203.0.113.7" }),
  "openstack:compute/instance:Instance": () => ({ availabilityZone: "nova" }),
  "openstack:identity/applicationCredential:ApplicationCredential": () => ({ secret: "secret" }),
  "command:local:Command": (name) => ({
    stdout: name.endsWith("-identity") ? "0123456789ab" : base64("s".repeat(32)),
  }),
  "kubernetes:core/v1:Service": () => ({
    status: { loadBalancer: { ingress: [{ ip: "203.0.113.8" }] } },
  }),
  "command:remote:Command": () => ({ stdout: JSON.stringify(result) }),
};

const resources = [];
await pulumi.runtime.setMocks({
  newResource: ({ type, name, inputs }) => {
    resources.push({ type, name, inputs });
    return { id: `${name}-id`, state: { ...inputs, ...answers[type]?.(name) } };
  },
  call: () => ({}),
});
// Pulumi's mocks report that they support hooks, but do not answer requests for hooks.
const accept = (_request, answer) => answer(null, {});
Object.assign(getMonitor(), { registerResourceHook: accept, registerErrorHook: accept });

process.once("beforeExit", async () => {
  await pulumi.runtime.disconnect();
  process.stdout.write(JSON.stringify(resources));
});
