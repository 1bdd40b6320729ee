import { createHash } from "node:crypto";
import { splitReference } from "../../base/images.js";
import { toYaml } from "../../base/yaml.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { encryptionFlags, encryptionHome } from "./encryption.js";
import {
  admission,
  apiServerFlags,
  controllerManagerFlags,
  schedulerFlags,
  statusReports,
} from "./hardening.js";
import { webhookKubeconfig } from "./keystone-webhook.js";

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
  /** Base64, with which Secrets are encrypted. Absent: they are not. */
  readonly encryptionKey?: string | undefined;
  /** PEM, of Keystone's webhook on each control plane. Absent: there is none. */
  readonly webhookCertificate?: string | undefined;
  /** `timeoutFactor` of the cluster. Default: 1. */
  readonly timeoutFactor?: number | undefined;
};
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/** Where control planes have the files that their components read (scripts/configuration.sh). */
const home = "/etc/kubernetes/stackadm";
const auditLog = "/var/log/kubernetes/audit";

/** A file whose name says what is in it: another text is another flag, with which the component starts again. */
interface OwnFile {
  readonly path: string;
  readonly text: string;
}

function ownFile(name: string, end: string, text: string): OwnFile {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { path: `${home}/${name}-${digest}.${end}`, text };
}

const metadataOnly = { omitStages: ["RequestReceived"], rules: [{ level: "Metadata" }] };

const policyFile = ({ enabled, policy }: Kubernetes["audit"]): OwnFile | undefined =>
  enabled
    ? ownFile(
        "audit-policy",
        "yaml",
        toYaml({
          ...(policy === "metadata" ? metadataOnly : policy),
          apiVersion: "audit.k8s.io/v1",
          kind: "Policy",
        }),
      )
    : undefined;

/** What pods may be, where their namespace does not say. */
function admissionFile(kubernetes: Kubernetes): OwnFile | undefined {
  const document = admission(kubernetes);
  return document && ownFile("admission", "yaml", toYaml(document));
}

function admissionFlags(kubernetes: Kubernetes): Flags {
  const file = admissionFile(kubernetes);
  return file ? { "admission-control-config-file": file.path } : {};
}

const authorityFile = ({ ca }: NonNullable<Kubernetes["oidc"]>): OwnFile | undefined =>
  ca === undefined ? undefined : ownFile("oidc-ca", "crt", `${ca.trimEnd()}\n`);

/** Where the API server asks whose token it has been given, and what that one may do. */
const webhookFile = (certificate: string): OwnFile =>
  ownFile("keystone-webhook", "conf", toYaml(webhookKubeconfig(certificate)));

/** The webhook knows no other version of either question. */
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

/** Flags as kubeadm has them, in an order that does not depend on how they were written. */
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
  ...{ name, hostPath: path, mountPath: path, pathType: "DirectoryOrCreate" },
  ...more,
});

function apiServerOf(kubernetes: Kubernetes): Fields {
  const { oidc, audit } = kubernetes;
  const encryption = encryptionFlags(kubernetes);
  const extraVolumes = [
    ...(ownFiles(kubernetes).length > 0
      ? [volume("stackadm-files", home, { readOnly: true })]
      : []),
    ...(audit.enabled ? [volume("audit-log", auditLog)] : []),
    ...(encryption ? [volume("stackadm-encryption", encryptionHome, { readOnly: true })] : []),
  ];
  const flags = {
    ...apiServerFlags(kubernetes),
    ...oidcFlags(oidc),
    ...keystoneFlags(kubernetes),
    ...auditFlags(audit),
    ...admissionFlags(kubernetes),
    ...encryption,
  };
  return componentOf(flags, extraVolumes.length > 0 ? { extraVolumes } : {});
}

/**
 * The blocks of kubeadm's ClusterConfiguration that arguments decide, but for the names in the API server's certificate.
 */
export function configuredBlocks(kubernetes: Kubernetes): Fields {
  const { certificates, images } = kubernetes;
  const { validity, authorityValidity } = certificates;
  const components = {
    apiServer: apiServerOf(kubernetes),
    controllerManager: componentOf(controllerManagerFlags(kubernetes)),
    scheduler: componentOf(schedulerFlags(kubernetes)),
  };
  return {
    ...components,
    ...(validity !== undefined && { certificateValidityPeriod: duration(validity) }),
    ...(authorityValidity !== undefined && {
      caCertificateValidityPeriod: duration(authorityValidity),
    }),
    ...(images.coreDns !== undefined && { dns: splitReference(images.coreDns) }),
  };
}

/** As Go writes it, and so kubeadm in the cluster. */
const duration = (hours: string): string => `${hours}0m0s`;

/** The same for scripts/configuration.sh. */
export const configurationText = (kubernetes: Kubernetes): string =>
  toYaml(configuredBlocks(kubernetes));

/** The files that flags name. */
function ownFiles(kubernetes: Kubernetes): readonly OwnFile[] {
  const { oidc, audit, webhookCertificate } = kubernetes;
  return [
    policyFile(audit),
    admissionFile(kubernetes),
    oidc && authorityFile(oidc),
    webhookCertificate === undefined ? undefined : webhookFile(webhookCertificate),
  ].flatMap((one) => (one ? [one] : []));
}

/** The same for the same script: a line `NAME BASE64` each. */
export const configurationFiles = (kubernetes: Kubernetes): string =>
  ownFiles(kubernetes)
    .map(
      ({ path, text }) => `${path.slice(home.length + 1)} ${Buffer.from(text).toString("base64")}`,
    )
    .join("\n");

const kubeletKind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
const proxyKind = {
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
};

export const kubeletConfiguration = (own: Fields): Fields => ({
  ...kubeletKind,
  cgroupDriver: "systemd",
  // Whoever says how often alone, says it of both.
  ...("nodeStatusUpdateFrequency" in own ? {} : statusReports()),
  ...own,
});

export const proxyConfiguration = (own: Fields): Fields => ({ ...proxyKind, ...own });

/** Without a field of the user's there is nothing to say: what init was given holds. */
const ifAny = (own: Fields, document: Fields): string =>
  Object.keys(own).length === 0 ? "" : toYaml(document);

/** For machine/scripts/kubelet.sh and scripts/kube-proxy.sh; nothing where no field is asked for. */
export const kubeletText = (own: Fields): string => ifAny(own, kubeletConfiguration(own));
export const proxyText = (own: Fields): string => ifAny(own, proxyConfiguration(own));
