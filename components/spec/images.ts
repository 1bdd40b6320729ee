import { z } from "zod";
import { kubeadmImages, type OwnImages, type ReplaceableImage } from "../../base/images.js";
import { doc, record, text } from "../arguments/values.js";

/** What restarts when another image stands in; a name without its row here is a type error. */
const uses: Readonly<Record<Exclude<ReplaceableImage, "etcd">, string>> = {
  cloudControllerManager: "The cloud controller's. Its pods restart one after another",
  cinderCsi: "The Cinder driver's. Its pods restart one after another; mounted volumes stay",
  csiAttacher: "Beside the Cinder driver's controller, which restarts",
  csiProvisioner: "Beside the Cinder driver's controller, which restarts",
  csiResizer: "Beside the Cinder driver's controller, which restarts",
  csiSnapshotter: "Beside the Cinder driver's controller, which restarts",
  snapshotController: "The snapshot controller's, which restarts",
  csiNodeDriverRegistrar: "Beside the Cinder driver on each node, whose pods restart one by one",
  livenessProbe: "Beside the Cinder driver, whose pods restart one after another",
  metricsServer: "Of metrics-server, which restarts",
  keystoneAuth: "Of Keystone's webhook on each control plane. Its pods restart one after another",
  traefik: "The ingress controller's. Its pods restart one after another",
  kubeRouter:
    "Of kube-router. Its pods restart on one node after another; pods keep their addresses",
  flannel: "Of flannel, Canal's too. Its pods restart on one node after another",
  flannelCniPlugin: "What flannel installs on each node, by pods that restart one after another",
  calicoNode: "Calico's and Canal's on each node, whose pods restart one after another",
  calicoCni: "What Calico and Canal install on each node, by pods that restart one after another",
  calicoKubeControllers: "Calico's and Canal's controller's, which restarts",
  agnhost: "The samples', which restart",
  coreDns:
    "CoreDNS', of which one pod after another restarts. It has to be called `coredns` and have a tag",
  pause:
    "Of what holds each pod's network. containerd restarts on each machine, pods do not; those that begin afterwards have it. kubeadm pulls its own besides, before it begins",
};

const isReference = (value: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?\/[a-z0-9._/-]*[a-z0-9](:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?$/i.test(
    value,
  ) && /(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(value.slice(value.indexOf("/")));

const reference = text(
  isReference,
  "is not an image with its registry and a tag or digest; write one like registry.example.org/mirror/etcd:3.6.8-0",
);

/** kubeadm takes a repository and a tag and puts the name between them itself. */
const namedFor = (name: "etcd" | "coreDns"): z.ZodType<string, string> => {
  const image = kubeadmImages[name];
  return text(
    (value) => isReference(value) && value.includes(`/${image}:`) && !value.includes("@"),
    `is not an image that kubeadm can be told; write a registry, the name ${image} and a tag, like registry.example.org/mirror/${image}:1.2.3`,
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
        "Of etcd, on the control planes or on machines of its own. It has to be called `etcd` and have a tag.",
        otherwise,
      ),
    ),
} as Readonly<Record<ReplaceableImage, z.ZodOptional<z.ZodType<string, string>>>>;

/** Images of one's own for single components, by their names in the table of images. */
export const images = record(shape).prefault({}) satisfies z.ZodType<OwnImages>;
