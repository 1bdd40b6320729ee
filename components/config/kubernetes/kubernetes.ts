import {
  defaultKubernetesVersion,
  getMinorVersion,
  supportedMinors,
} from "../../../base/versions/pinned-versions.js";
import { ownImagesSchema } from "./images.js";
import {
  apiServerSchema,
  auditSchema,
  certificatesSchema,
  controllerManagerSchema,
  componentFieldsSchema,
  oidcSchema,
  schedulerSchema,
} from "./component-flags.js";
import { kubeletDecisions } from "./flags/kubelet.js";
import { kubeProxyDecisions } from "./flags/kube-proxy.js";
import { findKeystoneConflicts, keystoneSchema } from "./keystone.js";
import { patchesSchema } from "./static-pod-patches.js";
import { packagesSchema } from "../machines/packages.js";
import { registriesSchema } from "../machines/registries.js";
import {
  doc,
  list,
  nonEmptyTextField,
  strictObject,
  textField,
  booleanField,
} from "../../schema/fields.js";

const version = textField(
  (value) => /^\d+\.\d+\.\d+$/.test(value) && supportedMinors.includes(getMinorVersion(value)),
  `is not a version that this release installs; write a patch release of ${supportedMinors.join(" or ")}, like ${defaultKubernetesVersion}`,
)
  .default(defaultKubernetesVersion)
  .meta(
    doc(
      "in place",
      "Kubernetes version, without a leading v. A later patch release, or a release of the next minor version, upgrades the cluster in place, one machine at a time, control planes first; each machine is drained meanwhile, and its kubelet restarts. An earlier version, or one that skips a minor version, is refused.",
    ),
  );

/** Registry of the machines' container images. */
const registrySchema = strictObject({
  prefix: textField(
    (value) => /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._/-]+)?$/.test(value),
    "is not an image prefix; write a registry and path, like registry.example.org/mirror",
  )
    .default("registry.k8s.io")
    .meta(
      doc(
        "refused",
        "Registry and path that replace each image's upstream registry. With the default, every image comes from where it is published. An image keeps its path, with one exception: kubeadm pulls `<prefix>/coredns`, and upstream has `coredns/coredns`.",
      ),
    ),
  plainHttp: booleanField()
    .default(false)
    .meta(doc("in place", "Whether the registry uses HTTP without TLS.")),
}).prefault({});

export const kubernetesSchema = strictObject({
  version,
  packages: packagesSchema,
  registry: registrySchema,
  registries: registriesSchema,
  images: ownImagesSchema,
  apiServer: apiServerSchema,
  controllerManager: controllerManagerSchema,
  scheduler: schedulerSchema,
  patches: patchesSchema,
  kubelet: componentFieldsSchema("KubeletConfiguration", kubeletDecisions)
    .default({})
    .meta(
      doc(
        "restarts kubelet",
        "Fields merged into KubeletConfiguration. `cgroupDriver` also sets containerd's. `maxPods` is at most the number of addresses in a node's share of `network.pods`: 253 with the default share, a /24. Its default is 110, or less if the share has fewer addresses. It is at least 15, the pods of a control plane. `cgroupDriver`, `clusterDNS`, `cpuManagerPolicy` and `memoryManagerPolicy` cannot change while the cluster exists: a change is refused.",
      ),
    ),
  kubeProxy: componentFieldsSchema("KubeProxyConfiguration", kubeProxyDecisions)
    .default({})
    .meta(
      doc(
        "in place",
        "Fields merged into KubeProxyConfiguration; kube-proxy restarts on one node after another. The default of `mode` is `nftables` with the pod networks `kube-router` and `cloud-routes`, and `iptables` with the others. `mode` and `clusterCIDR` cannot change while the cluster exists: a change is refused.",
      ),
    ),
  certificates: certificatesSchema,
  oidc: oidcSchema,
  keystone: keystoneSchema,
  audit: auditSchema,
  hardened: booleanField()
    .default(false)
    .meta(
      doc(
        "restarts control plane",
        "Hardening that restricts or costs something: pods beyond the baseline of the Pod Security Standards are refused unless their namespace sets another level, images are requested from their registry at each start, Services have no external addresses, tokens expire exactly at their end, TLS 1.2 uses only ciphers with forward secrecy, kubelets serve with certificates of the cluster's CA, which the API server verifies, and pods have the runtime's seccomp profile and at most 4096 processes. Also restarts kubelet, on one machine after another; running pods continue, and are checked when they start again.",
      ),
    ),
  ignorePreflightErrors: list(
    nonEmptyTextField("a preflight check"),
    0,
    "a list of kubeadm's preflight checks",
  )
    .default([])
    .meta(doc("in place", "Checks of kubeadm's preflight whose failure is ignored.")),
})
  .check(({ value, issues }) => {
    issues.push(...findKeystoneConflicts(value));
  })
  .prefault({});

export const metricsServerSchema = booleanField()
  .optional()
  .meta(
    doc(
      "in place",
      "Whether metrics-server runs: resource usage of nodes and pods, for `kubectl top` and autoscalers. It does not verify the kubelets' certificates, since kubeadm's kubelets sign their own; with `kubernetes.hardened`, or `serverTLSBootstrap: true` in `kubernetes.kubelet`, it verifies them.",
      "`false`",
    ),
  );

export const samplesSchema = booleanField()
  .default(false)
  .meta(
    doc(
      "in place",
      "Sample workloads: an external and an internal LoadBalancer service and a 1 GiB claim mounted in a pod that writes to it.",
    ),
  );
