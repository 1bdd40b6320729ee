/** k8s-keystone-auth: whose token of Keystone it is that the API server was given (pure). */
import type { ClusterSpec } from "../../spec/cluster-spec.js";
import { keystoneWebhook } from "../../kubeadm/keystone-webhook.js";
import { systemNamespace } from "../../support/manifests/access.js";
import { beforeNodesAreReady } from "./cloud-controller.js";
import { confined } from "./deployment.js";
import { appLabel, container, controlPlaneSelector } from "../../support/manifests/pod.js";
import type { Container, DaemonSet, Late, Secret } from "../../support/kubernetes-types.js";

const name = "k8s-keystone-auth";
const directory = "/etc/keystone-auth";
const policyKey = "policy.json";
const caKey = "ca.crt";

type Policy = NonNullable<NonNullable<ClusterSpec["kubernetes"]["keystone"]>["policy"]>;

/** The rules in the words of its second version. */
export const keystonePolicy = (policy: Policy): string =>
  JSON.stringify(
    policy.map(({ projects, roles, resources, paths }) => ({
      users: { projects, ...(roles.length > 0 && { roles }) },
      resource_permissions: resources,
      nonresource_permissions: paths,
    })),
  );

/** Everything that it reads. Nothing of it is the cluster's own credential. */
export const keystoneSecret = (content: {
  readonly certificate: Late;
  readonly privateKey: Late;
  readonly caCertificate?: string | undefined;
  readonly policy?: Policy | undefined;
}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: systemNamespace },
  type: "kubernetes.io/tls",
  stringData: {
    "tls.crt": content.certificate,
    "tls.key": content.privateKey,
    ...(content.caCertificate !== undefined && { [caKey]: content.caCertificate }),
    ...(content.policy && { [policyKey]: keystonePolicy(content.policy) }),
  },
});

/** Arguments of {@link keystoneDaemonSet}. */
export interface KeystoneAuthSettings {
  readonly image: string;
  /** Keystone, as control planes reach it. */
  readonly url: Late;
  /** Whether there is an authority of the cloud's own, and rules about who may do what. */
  readonly caCertificate: boolean;
  readonly policy: boolean;
  /** Digest of what it reads: it reads it once, so a changed one restarts the pods. */
  readonly checksum: Late;
}

/** One beside each API server. It asks the cluster nothing, so that it has no account. */
export function keystoneDaemonSet(settings: KeystoneAuthSettings): DaemonSet {
  const labels = appLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels, annotations: { "checksum/config": settings.checksum } },
        spec: {
          automountServiceAccountToken: false,
          hostNetwork: true,
          // The node's resolver, which knows Keystone's name before there is cluster DNS.
          dnsPolicy: "Default",
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: beforeNodesAreReady,
          securityContext: {
            ...{ runAsNonRoot: true, runAsUser: 1001 },
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [webhook(settings)],
          volumes: [{ name: "config", secret: { secretName: name } }],
        },
      },
    },
  };
}

function webhook({ image, caCertificate, policy, url }: KeystoneAuthSettings): Container {
  const { address: host, port } = keystoneWebhook;
  return container({
    name,
    image,
    command: ["/bin/k8s-keystone-auth"],
    args: [
      `--listen=${host}:${port.toString()}`,
      `--tls-cert-file=${directory}/tls.crt`,
      `--tls-private-key-file=${directory}/tls.key`,
      ...(caCertificate ? [`--keystone-ca-file=${directory}/${caKey}`] : []),
      ...(policy ? [`--keystone-policy-file=${directory}/${policyKey}`] : []),
    ],
    env: [{ name: "OS_AUTH_URL", value: url }],
    // It serves only after Keystone has answered. It has no page for probes, and complains of each that says nothing: one
    // that connected is enough, since it ends when it cannot serve.
    startupProbe: { tcpSocket: { host, port }, periodSeconds: 2, failureThreshold: 60 },
    volumeMounts: [{ name: "config", mountPath: directory, readOnly: true }],
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: confined,
  });
}
