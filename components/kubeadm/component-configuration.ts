import { createHash } from "node:crypto";
import { splitKubeadmImageReference } from "../../base/versions/container-images.js";
import { toYaml } from "../../base/yaml.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { getEncryptionFlags, encryptionDirectory } from "./secrets-encryption.js";
import {
  getAdmissionPluginSettings,
  getApiServerFlags,
  getControllerManagerFlags,
  getSchedulerFlags,
  getNodeStatusIntervals,
} from "./hardening.js";
import { buildWebhookKubeconfig } from "./keystone-webhook-kubeconfig.js";

type Fields = Readonly<Record<string, unknown>>;
type Kubernetes = Pick<
  ClusterSpec["kubernetes"],
  | "apiServer"
  | "controllerManager"
  | "scheduler"
  | "kubelet"
  | "certificates"
  | "oidc"
  | "keystone"
  | "audit"
  | "hardened"
  | "images"
> & {
  /** Key that encrypts Secrets in etcd, in base64. @default Secrets are not encrypted */
  readonly encryptionKey?: string | undefined;
  /** Certificate of the Keystone webhook on each control plane, in PEM. @default no webhook */
  readonly webhookCertificate?: string | undefined;
  /** `timeoutFactor` of the cluster. @default 1 */
  readonly timeoutFactor?: number | undefined;
};
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/**
 * Directory on control planes for files of the API server. The API server's flags contain the paths
 * of these files (scripts/control-plane-configuration.sh).
 */
const apiServerFilesDirectory = "/etc/kubernetes/stackadm";
const auditLog = "/var/log/kubernetes/audit";

/**
 * File on control planes for the API server. The file's name contains a digest of the content. If
 * the content changes, the flag with the file's path also changes, and the API server restarts.
 */
interface ApiServerFile {
  readonly path: string;
  readonly text: string;
}

function buildApiServerFile(name: string, end: string, text: string): ApiServerFile {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { path: `${apiServerFilesDirectory}/${name}-${digest}.${end}`, text };
}

const metadataOnly = { omitStages: ["RequestReceived"], rules: [{ level: "Metadata" }] };

const policyFile = ({ enabled, policy }: Kubernetes["audit"]): ApiServerFile | undefined =>
  enabled
    ? buildApiServerFile(
        "audit-policy",
        "yaml",
        toYaml({
          ...(policy === "metadata" ? metadataOnly : policy),
          apiVersion: "audit.k8s.io/v1",
          kind: "Policy",
        }),
      )
    : undefined;

/**
 * Returns the file with the settings of admission plugins. Returns undefined if the user's flags
 * already name such a file.
 */
function admissionFile(kubernetes: Kubernetes): ApiServerFile | undefined {
  const document = getAdmissionPluginSettings(kubernetes);
  return document && buildApiServerFile("admission", "yaml", toYaml(document));
}

function admissionFlags(kubernetes: Kubernetes): Flags {
  const file = admissionFile(kubernetes);
  return file ? { "admission-control-config-file": file.path } : {};
}

const authorityFile = ({ ca }: NonNullable<Kubernetes["oidc"]>): ApiServerFile | undefined =>
  ca === undefined ? undefined : buildApiServerFile("oidc-ca", "crt", `${ca.trimEnd()}\n`);

/** Returns the kubeconfig with which the API server connects to the Keystone webhook. */
const webhookFile = (certificate: string): ApiServerFile =>
  buildApiServerFile("keystone-webhook", "conf", toYaml(buildWebhookKubeconfig(certificate)));

/**
 * Returns the flags for the Keystone webhook. The webhook authenticates users. If there is a
 * policy, it also authorizes requests. The webhook supports only v1beta1.
 */
function keystoneFlags({ keystone, webhookCertificate }: Kubernetes): Flags {
  if (webhookCertificate === undefined) return {};
  const { path } = webhookFile(webhookCertificate);
  return {
    "authentication-token-webhook-config-file": path,
    "authentication-token-webhook-version": "v1beta1",
    ...(keystone?.policy && {
      "authorization-mode": "Node,RBAC,Webhook",
      "authorization-webhook-config-file": path,
      "authorization-webhook-version": "v1beta1",
    }),
  };
}

function oidcFlags(oidc: Kubernetes["oidc"]): Flags {
  if (!oidc) return {};
  const flags = {
    "oidc-issuer-url": oidc.issuerUrl,
    "oidc-client-id": oidc.clientId,
    "oidc-username-claim": oidc.usernameClaim,
    "oidc-username-prefix": oidc.usernamePrefix,
    "oidc-groups-claim": oidc.groupsClaim,
    "oidc-groups-prefix": oidc.groupsPrefix,
    "oidc-ca-file": authorityFile(oidc)?.path,
  };
  return Object.fromEntries(
    Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function auditFlags(audit: Kubernetes["audit"]): Flags {
  const policy = policyFile(audit);
  if (!policy) return {};
  return {
    "audit-policy-file": policy.path,
    "audit-log-path": `${auditLog}/audit.log`,
    "audit-log-maxsize": audit.maxSize,
    "audit-log-maxbackup": audit.maxBackups,
    "audit-log-maxage": audit.maxAge,
  };
}

/**
 * Returns flags in kubeadm's format. The flags are sorted by name, because their order in the
 * settings must not matter.
 */
const argumentsOf = (flags: Flags): Fields[] =>
  Object.entries(flags)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, written]) =>
      [written].flat().map((value) => ({ name, value: String(value) })),
    );

const componentOf = (flags: Flags, more: Fields = {}): Fields => ({
  extraArgs: argumentsOf(flags),
  ...more,
});

const volume = (name: string, path: string, more: Fields = {}): Fields => ({
  name,
  hostPath: path,
  mountPath: path,
  pathType: "DirectoryOrCreate",
  ...more,
});

function apiServerOf(kubernetes: Kubernetes): Fields {
  const { oidc, audit } = kubernetes;
  const encryption = getEncryptionFlags(kubernetes);
  const extraVolumes = [
    ...(listApiServerFiles(kubernetes).length > 0
      ? [volume("stackadm-files", apiServerFilesDirectory, { readOnly: true })]
      : []),
    ...(audit.enabled ? [volume("audit-log", auditLog)] : []),
    ...(encryption ? [volume("stackadm-encryption", encryptionDirectory, { readOnly: true })] : []),
  ];
  const flags = {
    ...getApiServerFlags(kubernetes),
    ...oidcFlags(oidc),
    ...keystoneFlags(kubernetes),
    ...auditFlags(audit),
    ...admissionFlags(kubernetes),
    ...encryption,
  };
  return componentOf(flags, extraVolumes.length > 0 ? { extraVolumes } : {});
}

/**
 * Returns the blocks of kubeadm's ClusterConfiguration that the settings determine. The result does
 * not contain `certSANs`, the names in the API server's certificate.
 */
export function buildClusterConfigurationBlocks(kubernetes: Kubernetes): Fields {
  const { certificates, images } = kubernetes;
  const { validity, authorityValidity } = certificates;
  const components = {
    apiServer: apiServerOf(kubernetes),
    controllerManager: componentOf(getControllerManagerFlags(kubernetes)),
    scheduler: componentOf(getSchedulerFlags(kubernetes)),
  };
  return {
    ...components,
    ...(validity !== undefined && { certificateValidityPeriod: duration(validity) }),
    ...(authorityValidity !== undefined && {
      caCertificateValidityPeriod: duration(authorityValidity),
    }),
    ...(images.coreDns !== undefined && { dns: splitKubeadmImageReference(images.coreDns) }),
  };
}

/** Returns a duration such as `8760h` as Go writes it. kubeadm stores durations in this format. */
const duration = (hours: string): string => `${hours}0m0s`;

/**
 * Returns {@link buildClusterConfigurationBlocks} as YAML. scripts/control-plane-configuration.sh
 * reads this YAML.
 */
export const renderClusterConfiguration = (kubernetes: Kubernetes): string =>
  toYaml(buildClusterConfigurationBlocks(kubernetes));

/** Returns the files of the API server in the directory {@link apiServerFilesDirectory}. */
function listApiServerFiles(kubernetes: Kubernetes): readonly ApiServerFile[] {
  const { oidc, audit, webhookCertificate } = kubernetes;
  return [
    policyFile(audit),
    admissionFile(kubernetes),
    oidc && authorityFile(oidc),
    webhookCertificate === undefined ? undefined : webhookFile(webhookCertificate),
  ].flatMap((file) => (file ? [file] : []));
}

/**
 * Returns the files of the API server for scripts/control-plane-configuration.sh. Each file is a
 * line `NAME BASE64`.
 */
export const renderApiServerFiles = (kubernetes: Kubernetes): string =>
  listApiServerFiles(kubernetes)
    .map(
      ({ path, text }) =>
        `${path.slice(apiServerFilesDirectory.length + 1)} ${Buffer.from(text).toString("base64")}`,
    )
    .join("\n");

const kubeletKind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
const proxyKind = {
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
};

export const buildKubeletConfiguration = (own: Fields): Fields => ({
  ...kubeletKind,
  cgroupDriver: "systemd",
  // If the user sets nodeStatusUpdateFrequency, nodeStatusReportFrequency also keeps kubelet's
  // default.
  ...("nodeStatusUpdateFrequency" in own ? {} : getNodeStatusIntervals()),
  ...own,
});

export const buildKubeProxyConfiguration = (own: Fields): Fields => ({ ...proxyKind, ...own });

/**
 * Returns the document as YAML. Returns "" if the user sets no field, so that the document of
 * kubeadm is used.
 */
const renderIfNotEmpty = (own: Fields, document: Fields): string =>
  Object.keys(own).length === 0 ? "" : toYaml(document);

/** Returns the KubeletConfiguration for the scripts. Returns "" if no field is set. */
export const renderKubeletConfiguration = (own: Fields): string =>
  renderIfNotEmpty(own, buildKubeletConfiguration(own));
/**
 * Returns the KubeProxyConfiguration for scripts/kube-proxy-configuration.sh. Returns "" if no
 * field is set.
 */
export const renderKubeProxyConfiguration = (own: Fields): string =>
  renderIfNotEmpty(own, buildKubeProxyConfiguration(own));
