import { defaultKubernetesVersion, minorOf, supportedMinors } from "../../base/versions.js";
import { images } from "./images.js";
import {
  apiServer,
  audit,
  certificates,
  controllerManager,
  fieldsOf,
  oidc,
  scheduler,
} from "./kubernetes-flags.js";
import { besideKeystone, keystone } from "./keystone.js";
import { patches } from "./kubernetes-patches.js";
import { packages } from "./packages.js";
import { registries } from "./registries.js";
import { doc, list, present, record, text, truth } from "../arguments/values.js";

const version = text(
  (value) => /^\d+\.\d+\.\d+$/.test(value) && supportedMinors.includes(minorOf(value)),
  `is not a version that this release installs; write a patch release of ${supportedMinors.join(" or ")}, like ${defaultKubernetesVersion}`,
)
  .default(defaultKubernetesVersion)
  .meta(
    doc(
      "in place",
      "Kubernetes version, without a leading v. A later patch release, or one of the next minor, upgrades the cluster: rolling, in place, one machine at a time, control planes first; each is drained meanwhile, and its kubelet restarts. An earlier version, or one that leaves out a minor, is refused.",
    ),
  );

/** Where machines get their container images. */
const registry = record({
  prefix: text(
    (value) => /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._/-]+)?$/.test(value),
    "is not an image prefix; write a registry and path, like registry.example.org/mirror",
  )
    .default("registry.k8s.io")
    .meta(
      doc(
        "refused",
        "Registry and path that stand in for each image's upstream registry. The default leaves every image where it is published.",
      ),
    ),
  plainHttp: truth().default(false).meta(doc("in place", "The registry speaks HTTP without TLS.")),
}).prefault({});

export const kubernetes = record({
  version,
  packages,
  registry,
  registries,
  images,
  apiServer,
  controllerManager,
  scheduler,
  patches,
  kubelet: fieldsOf(
    "KubeletConfiguration",
    {
      staticPodPath: "is where the control plane's pods are; leave it out",
      healthzPort: "is where kubelet's health is asked; leave it out",
      healthzBindAddress: "is where kubelet's health is asked; leave it out",
    },
    { cgroupDriver: ["systemd", "cgroupfs"] },
  )
    .default({})
    .meta(
      doc(
        "restarts kubelet",
        "Fields merged into KubeletConfiguration. `cgroupDriver` also sets containerd's; it, `clusterDNS`, `clusterDomain`, `cpuManagerPolicy` and `memoryManagerPolicy` cannot change while the cluster lives, and are refused.",
      ),
    ),
  kubeProxy: fieldsOf("KubeProxyConfiguration", {}, { mode: ["iptables", "nftables", "ipvs", ""] })
    .default({})
    .meta(
      doc(
        "in place",
        "Fields merged into KubeProxyConfiguration; kube-proxy restarts on one node after another. `mode` and `clusterCIDR` cannot change while the cluster lives, and are refused.",
      ),
    ),
  certificates,
  oidc,
  keystone,
  audit,
  hardened: truth()
    .default(false)
    .meta(
      doc(
        "restarts control plane",
        "What costs something: pods above the baseline of Pod Security Standards are refused where their namespace does not say otherwise, images are asked for at each start, Services take no external addresses, tokens end when they say, TLS 1.2 has only ciphers with forward secrecy, kubelets serve with certificates of the cluster's authority, which the API server checks, and pods have the runtime's seccomp profile and at most 4096 processes. Also restarts kubelet, on one machine after another; what runs goes on, and is judged when it starts again.",
      ),
    ),
  ignorePreflightErrors: list(
    present("a preflight check"),
    0,
    "a list of kubeadm's preflight checks",
  )
    .default([])
    .meta(doc("in place", "Preflight checks of kubeadm that may fail.")),
})
  .check(({ value, issues }) => {
    issues.push(...besideKeystone(value));
  })
  .prefault({});

export const metricsServer = truth()
  .optional()
  .meta(
    doc(
      "in place",
      "Whether metrics-server runs: what nodes and pods use, for `kubectl top` and autoscalers. It takes kubelets' certificates on trust, since kubeadm's kubelets sign their own; with `kubernetes.hardened`, or `serverTLSBootstrap: true` in `kubernetes.kubelet`, it checks them.",
      "`false`",
    ),
  );

export const samples = truth()
  .default(false)
  .meta(
    doc(
      "in place",
      "Sample workloads: an external and an internal LoadBalancer service and a 1 GiB claim mounted in a pod that writes to it.",
    ),
  );
