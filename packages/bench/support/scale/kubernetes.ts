import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiPort } from "../../../../base/ports.js";
import { toYaml } from "../../../../base/yaml.js";
import { FakeApiServer } from "../../../toolchain/test/unit/stand-ins/kubernetes/support/fake-api-server.js";
import type { FakeMachine } from "./fake-openstack-project.js";

/** Kinds that the program creates and the fake API server does not serve by default. */
const kinds: readonly (readonly [
  prefix: string,
  kind: string,
  plural: string,
  namespaced: boolean,
])[] = [
  ["/api/v1", "Node", "nodes", false],
  ["/apis/rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false],
  ["/apis/rbac.authorization.k8s.io/v1", "Role", "roles", true],
  ["/apis/rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true],
  ["/apis/storage.k8s.io/v1", "CSIDriver", "csidrivers", false],
];

const base64 = (file: string): string => readFileSync(file).toString("base64");

/**
 * Creates a key and a self-signed certificate for a server at this address. Returns the paths of
 * both files.
 */
function selfSigned(
  directory: string,
  address: string,
): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(directory, "api.key"), join(directory, "api.crt")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const subject = ["-subj", "/CN=api", "-addext", `subjectAltName=IP:${address}`];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-nodes", "-days", "2", ...subject, "-keyout", key, "-out", cert],
    { stdio: "pipe" },
  );
  return { key, cert };
}

/** Fake Kubernetes API. Nodes are Ready as soon as their machines join, and pods run at once. */
export class FakeKubernetes {
  private constructor(
    private readonly server: FakeApiServer,
    /** Kubeconfig of the administrator, as kubeadm writes it. */
    readonly kubeconfig: string,
  ) {}

  static async start(directory: string, address: string): Promise<FakeKubernetes> {
    const { key, cert } = selfSigned(directory, address);
    const pair = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    const server = await FakeApiServer.start({
      pair,
      host: address,
      port: apiPort,
      anonymous: true,
    });
    for (const [prefix, kind, plural, namespaced] of kinds)
      server.serve({ prefix, kind, plural, namespaced });
    const cluster = {
      "certificate-authority-data": base64(cert),
      server: `https://${address}:6443`,
    };
    const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    const kubeconfig = toYaml({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "kubernetes", cluster }],
      users: [{ name: "kubernetes-admin", user }],
    });
    return new FakeKubernetes(server, kubeconfig);
  }

  /** Adds a machine as a node. */
  join({ name, serverId, address }: FakeMachine, controlPlane: boolean): void {
    const yes = [{ type: "Ready", status: "True" }];
    const labels: Record<string, string> = controlPlane
      ? { "node-role.kubernetes.io/control-plane": "" }
      : { "stackadm.io/pool": "general" };
    this.server.load({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      spec: { providerID: `openstack:///${serverId}` },
      status: {
        nodeInfo: { kubeletVersion: "v1.36.3" },
        addresses: [{ type: "InternalIP", address }],
        conditions: yes,
      },
    });
    if (!controlPlane) return;
    const metadata = { name: `etcd-${name}`, namespace: "kube-system" };
    const status = { phase: "Running", conditions: yes };
    this.server.load({ apiVersion: "v1", kind: "Pod", metadata, status });
  }
}
