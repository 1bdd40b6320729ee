/** k8s-keystone-auth, the webhook that authenticates Keystone tokens (pure functions). */
import type { ClusterSpec } from "../../config/cluster-spec.js";
import { keystoneWebhookAddress } from "../../kubeadm/keystone-webhook-kubeconfig.js";
import { systemNamespace } from "../../kubernetes-objects/rbac.js";
import { getNotReadyNodeTolerations } from "./cloud-controller.js";
import { restrictedSecurityContext } from "./deployment.js";
import {
  buildAppLabel,
  addContainerDefaults,
  controlPlaneSelector,
  type Taint,
} from "../../kubernetes-objects/pod-settings.js";
import type {
  Container,
  DaemonSet,
  StringInput,
  Secret,
} from "../../kubernetes-objects/kubernetes-types.js";

const name = "k8s-keystone-auth";
const directory = "/etc/keystone-auth";
const policyKey = "policy.json";
const caKey = "ca.crt";

type Policy = NonNullable<NonNullable<ClusterSpec["kubernetes"]["keystone"]>["policy"]>;

/** Returns the rules in version 2 of the policy format of k8s-keystone-auth. */
export const renderKeystonePolicy = (policy: Policy): string =>
  JSON.stringify(
    policy.map(({ projects, roles, resources, paths }) => ({
      users: { projects, ...(roles.length > 0 && { roles }) },
      resource_permissions: resources,
      nonresource_permissions: paths,
    })),
  );

/**
 * Returns the Secret with all files of the webhook. The Secret contains no OpenStack credential.
 */
export const buildKeystoneSecret = (content: {
  readonly certificate: StringInput;
  readonly privateKey: StringInput;
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
    ...(content.policy && { [policyKey]: renderKeystonePolicy(content.policy) }),
  },
});

/** Arguments of {@link buildKeystoneDaemonSet}. */
export interface KeystoneAuthSettings {
  readonly image: string;
  /** URL at which control planes reach Keystone. */
  readonly url: StringInput;
  /** Whether the Secret contains the cloud's CA certificate. */
  readonly caCertificate: boolean;
  /** Whether the Secret contains a policy. With a policy, the webhook also authorizes requests. */
  readonly policy: boolean;
  /**
   * Digest of the webhook's files. The webhook reads the files only when it starts, so a changed
   * digest restarts the pods.
   */
  readonly checksum: StringInput;
  /** Taints of the control planes. @default only the taint of kubeadm */
  readonly controlPlaneTaints?: readonly Taint[] | undefined;
}

/**
 * Returns the DaemonSet of the webhook on control planes. The pods have no service account token,
 * because the webhook never calls the Kubernetes API.
 */
export function buildKeystoneDaemonSet(settings: KeystoneAuthSettings): DaemonSet {
  const labels = buildAppLabel(name);
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
          // The pod uses the node's DNS resolver, because it needs Keystone's address before
          // cluster DNS works.
          dnsPolicy: "Default",
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: getNotReadyNodeTolerations(settings.controlPlaneTaints),
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1001,
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
  const { address: host, port } = keystoneWebhookAddress;
  return addContainerDefaults({
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
    // The webhook opens its port after Keystone has answered, and exits if Keystone does not
    // answer. A startup probe therefore suffices. Other probes do harm: the webhook has no health
    // path, and logs an error for each connection without a request.
    startupProbe: { tcpSocket: { host, port }, periodSeconds: 2, failureThreshold: 60 },
    volumeMounts: [{ name: "config", mountPath: directory, readOnly: true }],
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: restrictedSecurityContext,
  });
}
