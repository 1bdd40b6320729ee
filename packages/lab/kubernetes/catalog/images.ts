import type { AddonImageName } from "../../../../base/versions/container-images.js";
import type { KubernetesMinor } from "../../../../base/versions/pinned-versions.js";
import type { RegistryImage } from "./component.js";

/**
 * Version of agnhost that the lab builds for all Kubernetes minor versions: `tag` is the version of
 * agnhost in the source tree of the Kubernetes version `kubernetes`. The program uses an earlier
 * version of agnhost, so the lab's image also gets the tag of the earlier version.
 */
export const builtAgnhostVersion = { tag: "2.63.0", kubernetes: "1.36.3" };

/** Returns the path of an image: `registry.k8s.io/coredns/coredns` -> `coredns/coredns`. */
export function parseRepository(name: string): string {
  return name.split("/").slice(1).join("/");
}

interface ImageFields extends Partial<Omit<RegistryImage, "repository" | "upstream" | "tags">> {
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Returns an image under upstream's name.
 *
 * @param name name with the host of the registry
 * @param tags tags; the first tag is upstream's
 */
export function defineImage(
  name: string,
  tags: readonly string[],
  rest: ImageFields,
): RegistryImage {
  return {
    base: "empty",
    ...rest,
    repository: parseRepository(name),
    upstream: `${name}:${tags[0] ?? ""}`,
    tags,
  };
}

function controlPlaneImages(versions: KubernetesMinor): RegistryImage[] {
  const kubernetes = (name: string, base: RegistryImage["base"] = "empty"): RegistryImage =>
    defineImage(`registry.k8s.io/${name}`, [`v${versions.version}`], {
      base,
      files: { [`/usr/local/bin/${name}`]: `kubernetes/${name}` },
      entrypoint: [name],
    });
  return [
    defineImage("registry.k8s.io/pause", [versions.pause], {
      files: { "/pause": "pause/pause" },
      entrypoint: ["/pause"],
      user: "65535:65535",
    }),
    kubernetes("kube-apiserver"),
    kubernetes("kube-controller-manager"),
    kubernetes("kube-scheduler"),
    kubernetes("kube-proxy", "debian"),
    defineImage("registry.k8s.io/etcd", [`${versions.etcd.slice(1)}-0`], {
      files: {
        "/usr/local/bin/etcd": "etcd/etcd",
        "/usr/local/bin/etcdctl": "etcdctl/etcdctl",
        "/usr/local/bin/etcdutl": "etcdutl/etcdutl",
      },
      command: ["etcd"],
    }),
    defineImage("registry.k8s.io/coredns/coredns", [versions.coredns], {
      // With another image repository than registry.k8s.io, kubeadm pulls <repository>/coredns.
      aliases: ["coredns"],
      files: { "/coredns": "coredns/coredns" },
      entrypoint: ["/coredns"],
      deviation: "runs as root: upstream gives the file cap_net_bind_service and uses another user",
    }),
  ];
}

type Tags = Readonly<Record<AddonImageName, string>>;

/** Returns the image of a CSI sidecar container. */
export const defineSidecarImage = (name: string, tag: string, component = name): RegistryImage =>
  defineImage(`registry.k8s.io/sig-storage/${name}`, [tag], {
    files: { [`/${name}`]: `${component}/${name}` },
    entrypoint: [`/${name}`],
  });

function cloudImages(tags: Tags): RegistryImage[] {
  const cloud = (name: string, base: RegistryImage["base"]): RegistryImage =>
    defineImage(`registry.k8s.io/provider-os/${name}`, [tags.cloudControllerManager], {
      base,
      files: { [`/bin/${name}`]: `cloud-provider-openstack/${name}` },
      command: [`/bin/${name}`],
    });
  return [
    cloud("openstack-cloud-controller-manager", "empty"),
    cloud("cinder-csi-plugin", "debian"),
    defineSidecarImage("csi-attacher", tags.csiAttacher),
    defineSidecarImage("csi-provisioner", tags.csiProvisioner),
    defineSidecarImage("csi-resizer", tags.csiResizer),
    defineSidecarImage("csi-node-driver-registrar", tags.csiNodeDriverRegistrar),
    defineSidecarImage("livenessprobe", tags.livenessProbe),
  ];
}

/** Returns every image of a Kubernetes version and its add-ons. */
export function listImages(versions: KubernetesMinor, tags: Tags): RegistryImage[] {
  return [
    ...controlPlaneImages(versions),
    ...cloudImages(tags),
    defineImage("docker.io/cloudnativelabs/kube-router", [tags.kubeRouter], {
      base: "debian",
      files: { "/usr/local/bin/kube-router": "kube-router/kube-router" },
      entrypoint: ["/usr/local/bin/kube-router"],
      deviation: "Debian instead of Alpine; without gobgp and the copies of CNI plugins",
    }),
    defineImage("ghcr.io/flannel-io/flannel", [tags.flannel], {
      base: "debian",
      files: { "/opt/bin/flanneld": "flannel/flanneld" },
      entrypoint: ["/opt/bin/flanneld"],
      deviation: "Debian instead of Alpine; without strongswan and wireguard-tools",
    }),
    defineImage("ghcr.io/flannel-io/flannel-cni-plugin", [tags.flannelCniPlugin], {
      base: "debian",
      files: { "/flannel": "flannel-cni-plugin/flannel" },
      command: ["/flannel"],
    }),
    defineImage(
      "registry.k8s.io/e2e-test-images/agnhost",
      [tags.agnhost, builtAgnhostVersion.tag],
      {
        base: "debian",
        files: { "/agnhost": "agnhost/agnhost" },
        links: { "/agnhost-2": "agnhost" },
        entrypoint: ["/agnhost"],
        command: ["pause"],
        deviation: "Debian instead of Alpine; without dig, iperf and the bundled CoreDNS",
      },
    ),
  ];
}
