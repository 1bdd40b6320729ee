import { z } from "zod";
import {
  kubeadmImages,
  type OwnImages,
  type ReplaceableImage,
} from "../../../base/versions/container-images.js";
import { doc, strictObject, textField } from "../../schema/fields.js";

/**
 * Description of each image, and of what restarts when the image changes. The compiler reports an
 * image without a description.
 */
const uses: Readonly<Record<Exclude<ReplaceableImage, "etcd">, string>> = {
  cloudControllerManager: "Image of the cloud controller. Its pods restart one after another",
  cinderCsi:
    "Image of the Cinder driver. Its pods restart one after another; mounted volumes are kept",
  csiAttacher: "Sidecar of the Cinder driver's controller, which restarts",
  csiProvisioner: "Sidecar of the Cinder driver's controller, which restarts",
  csiResizer: "Sidecar of the Cinder driver's controller, which restarts",
  csiSnapshotter: "Sidecar of the Cinder driver's controller, which restarts",
  snapshotController: "Image of the snapshot controller, which restarts",
  csiNodeDriverRegistrar:
    "Sidecar of the Cinder driver on each node, whose pods restart one by one",
  livenessProbe: "Sidecar of the Cinder driver, whose pods restart one after another",
  metricsServer: "Image of metrics-server, which restarts",
  keystoneAuth:
    "Image of Keystone's webhook on each control plane. Its pods restart one after another",
  traefik: "Image of the ingress controller. Its pods restart one after another",
  kubeRouter:
    "Image of kube-router. Its pods restart on one node after another; pods keep their addresses",
  flannel: "Image of flannel, also within Canal. Its pods restart on one node after another",
  flannelCniPlugin:
    "Image that installs flannel's plugin on each node, by pods that restart one after another",
  calicoNode: "Image of Calico and Canal on each node, whose pods restart one after another",
  calicoCni:
    "Image that installs the plugin of Calico and Canal on each node, by pods that restart one after another",
  calicoKubeControllers: "Image of the controller of Calico and Canal, which restarts",
  agnhost: "Image of the samples, which restart",
  coreDns:
    "Image of CoreDNS, whose pods restart one after another. Its name must be `coredns`, and it must have a tag",
  pause:
    "Image of the container that holds each pod's network. containerd restarts on one machine after another, pods do not; pods that start afterwards use the new image. kubeadm also pulls its own before it starts",
};

const isReference = (value: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?\/[a-z0-9._/-]*[a-z0-9](:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?$/i.test(
    value,
  ) && /(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(value.slice(value.indexOf("/")));

const reference = textField(
  isReference,
  "is not an image with its registry and a tag or digest; write one like registry.example.org/mirror/etcd:3.6.8-0",
);

/**
 * Returns the schema of an image reference for kubeadm's configuration. kubeadm takes only registry
 * and tag, and adds its own name of the image. The reference must therefore have a tag and that
 * name.
 */
const namedFor = (name: "etcd" | "coreDns"): z.ZodType<string, string> => {
  const image = kubeadmImages[name];
  return textField(
    (value) => isReference(value) && value.includes(`/${image}:`) && !value.includes("@"),
    `is not an image that kubeadm accepts; write a registry, the name ${image} and a tag, like registry.example.org/mirror/${image}:1.2.3`,
  );
};

const otherwise = "the release's, from `kubernetes.registry`";

const inPlace = Object.entries(uses).map(([name, use]) => [
  name,
  (name === "coreDns" ? namedFor(name) : reference)
    .optional()
    .meta(doc("in place", `${use}.`, otherwise)),
]);

const shape = {
  ...Object.fromEntries(inPlace),
  etcd: namedFor("etcd")
    .optional()
    .meta(
      doc(
        "refused",
        "Image of etcd, on the control planes or on separate machines. Its name must be `etcd`, and it must have a tag.",
        otherwise,
      ),
    ),
} as Readonly<Record<ReplaceableImage, z.ZodOptional<z.ZodType<string, string>>>>;

/**
 * Images that the user sets for single components, by the names in
 * base/versions/container-images.ts.
 */
export const ownImagesSchema = strictObject(shape).prefault({}) satisfies z.ZodType<OwnImages>;
