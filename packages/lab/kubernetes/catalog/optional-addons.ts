import { getImageTags } from "../../../../base/versions/container-images.js";
import { defaultKubernetesVersion } from "../../../../base/versions/pinned-versions.js";
import type { Component, RegistryImage } from "./component.js";
import { defineImage, defineSidecarImage } from "./images.js";
import { defineModuleSource, listPodNetworkComponents, sidecarModules } from "./versions.js";

/** Images and manifests that only some clusters need. The lab builds an add-on only on request. */
export interface OptionalAddon {
  readonly components: readonly Component[];
  readonly images: readonly RegistryImage[];
  /** Manifests of the add-on. A map from the name of the deployed program to `component/copy`. */
  readonly manifests: Readonly<Record<string, string>>;
}

const project = "github.com/projectcalico/calico";
const release = "v3.28.5";
/** Version of flannel in the manifest of Canal. */
const canalFlannel = "v0.24.3";

/**
 * Component with the newest Calico that is published as a Go module. The module's version differs
 * from the release.
 */
const calicoComponent: Component = {
  name: "calico",
  version: release,
  source: {
    kind: "module",
    module: project,
    moduleVersion: "v1.11.0-cni-plugin.0.20250813170300-a0db560f0520",
    replace: {
      "github.com/projectcalico/api":
        "github.com/projectcalico/api v0.0.0-20240708202104-e3f70b269c2c",
    },
  },
  programs: {
    calico: `${project}/cni-plugin/cmd/calico`,
    install: `${project}/cni-plugin/cmd/install`,
    "calico-node": `${project}/node/cmd/calico-node`,
    mountns: `${project}/node/cmd/mountns`,
    "kube-controllers": `${project}/kube-controllers/cmd/kube-controllers`,
    "check-status": `${project}/kube-controllers/cmd/check-status`,
  },
  copies: {
    etc: "node/filesystem/etc",
    sbin: "node/filesystem/sbin",
    "calico.yaml": "manifests/calico-vxlan.yaml",
    "canal.yaml": "manifests/canal.yaml",
  },
  link: {
    "main.VERSION": release,
    [`${project}/node/buildinfo.GitVersion`]: release,
    [`${project}/node/pkg/lifecycle/startup.VERSION`]: release,
  },
  expectedSeconds: 160,
  deviation: "without BIRD and the BPF data plane: VXLAN only",
};

const calicoImages: readonly RegistryImage[] = [
  defineImage("docker.io/calico/cni", [release], {
    files: {
      "/opt/cni/bin/install": "calico/install",
      "/opt/cni/bin/calico": "calico/calico",
      // calico-ipam is the same executable, which selects its function by its file name.
      "/opt/cni/bin/calico-ipam": "calico/calico",
    },
    command: ["/opt/cni/bin/install"],
    deviation: "without copies of other CNI plugins, which the machines have",
  }),
  defineImage("docker.io/calico/node", [release], {
    base: "debian",
    packages: ["runit", "procps"],
    files: { "/bin/calico-node": "calico/calico-node", "/bin/mountns": "calico/mountns" },
    folders: { "/etc": "calico/etc", "/usr/sbin": "calico/sbin" },
    command: ["start_runit"],
    deviation: "Debian instead of a Red Hat; without BIRD and bpftool",
  }),
  defineImage("docker.io/calico/kube-controllers", [release], {
    files: {
      "/usr/bin/kube-controllers": "calico/kube-controllers",
      "/usr/bin/check-status": "calico/check-status",
    },
    // kube-controllers writes a status file below /status, and check-status reads this file.
    links: { "/status": "tmp" },
    entrypoint: ["/usr/bin/kube-controllers"],
    user: "999:0",
  }),
];

function calico(): OptionalAddon {
  const tags = getImageTags(defaultKubernetesVersion);
  const flannel = listPodNetworkComponents(tags).filter(({ name }) => name === "flannel");
  return {
    components: [...flannel, calicoComponent],
    images: [
      ...calicoImages,
      defineImage("docker.io/flannel/flannel", [canalFlannel], {
        base: "debian",
        files: { "/opt/bin/flanneld": "flannel/flanneld" },
        entrypoint: ["/opt/bin/flanneld"],
        deviation: `flannel ${tags.flannel}, the lab's own`,
      }),
    ],
    manifests: { calico: "calico/calico.yaml", canal: "calico/canal.yaml" },
  };
}

function snapshots(): OptionalAddon {
  const { csiSnapshotter, snapshotController } = getImageTags(defaultKubernetesVersion);
  const project = "github.com/kubernetes-csi/external-snapshotter";
  const module = `${project}/v8`;
  const component = "external-snapshotter";
  return {
    components: [
      {
        name: component,
        version: csiSnapshotter,
        source: defineModuleSource(module, {
          ...sidecarModules,
          // Client of the same release. Without this line, Go would take the newest client.
          [`${project}/client/v8`]: `${project}/client/v8 ${csiSnapshotter}`,
        }),
        programs: {
          "csi-snapshotter": `${module}/cmd/csi-snapshotter`,
          "snapshot-controller": `${module}/cmd/snapshot-controller`,
        },
        link: { "main.version": csiSnapshotter },
        expectedSeconds: 60,
      },
    ],
    images: [
      defineSidecarImage("csi-snapshotter", csiSnapshotter, component),
      defineSidecarImage("snapshot-controller", snapshotController, component),
    ],
    manifests: {},
  };
}

function metricsServer(): OptionalAddon {
  const { metricsServer: version } = getImageTags(defaultKubernetesVersion);
  const module = "sigs.k8s.io/metrics-server";
  const name = "metrics-server";
  return {
    components: [
      {
        name,
        version,
        source: defineModuleSource(module),
        programs: { [name]: `${module}/cmd/${name}` },
        link: { "k8s.io/component-base/version.gitVersion": version },
        expectedSeconds: 60,
      },
    ],
    images: [
      defineImage("registry.k8s.io/metrics-server/metrics-server", [version], {
        files: { "/metrics-server": `${name}/${name}` },
        entrypoint: ["/metrics-server"],
        user: "65534",
      }),
    ],
    manifests: {},
  };
}

/**
 * Newest release of Traefik that can be built. Later releases need modules that are not published:
 * clients of DNS providers and a part of Traefik itself.
 */
const traefikBuilt = "v3.6.12";

function traefik(): OptionalAddon {
  const { traefik: version } = getImageTags(defaultKubernetesVersion);
  const module = "github.com/traefik/traefik/v3";
  const name = "traefik";
  const deviation = `Traefik ${traefikBuilt}, the newest that can be built of published modules; without its dashboard`;
  return {
    components: [
      {
        name,
        version: traefikBuilt,
        source: { kind: "module", module },
        programs: { [name]: `${module}/cmd/${name}` },
        link: { [`${module}/pkg/version.Version`]: traefikBuilt.slice(1) },
        expectedSeconds: 300,
        deviation,
      },
    ],
    images: [
      defineImage("docker.io/library/traefik", [version], {
        files: { "/traefik": `${name}/${name}` },
        entrypoint: ["/traefik"],
        deviation,
      }),
    ],
    manifests: {},
  };
}

function keystoneAuth(): OptionalAddon {
  const { keystoneAuth: version } = getImageTags(defaultKubernetesVersion);
  const module = "k8s.io/cloud-provider-openstack";
  const name = "k8s-keystone-auth";
  return {
    components: [
      {
        name,
        version,
        source: defineModuleSource(module),
        programs: { [name]: `${module}/cmd/${name}` },
        link: {
          "k8s.io/component-base/version.gitVersion": version,
          [`${module}/pkg/version.Version`]: version,
        },
        expectedSeconds: 60,
      },
    ],
    images: [
      defineImage(`registry.k8s.io/provider-os/${name}`, [version], {
        files: { [`/bin/${name}`]: `${name}/${name}` },
        command: [`/bin/${name}`],
      }),
    ],
    manifests: {},
  };
}

/** Optional add-ons by the name that `lab add` accepts. */
export const optionalAddons = {
  calico,
  snapshots,
  "metrics-server": metricsServer,
  traefik,
  "keystone-auth": keystoneAuth,
} as const satisfies Readonly<Record<string, () => OptionalAddon>>;
export type OptionalAddonName = keyof typeof optionalAddons;
export const optionalAddonNames = Object.keys(optionalAddons) as readonly OptionalAddonName[];
