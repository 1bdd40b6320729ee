/** Objects of all add-ons for an example cluster, by add-on. */
import { renderCloudConf } from "../../../../components/addons/cloud-conf.js";
import { imageTable } from "../../../../base/versions/container-images.js";
import {
  blockStorageAccess,
  blockStorageController,
} from "../../../../components/addons/manifests/block-storage.js";
import {
  blockStorageNode,
  blockStorageNodeAccount,
} from "../../../../components/addons/manifests/block-storage-node.js";
import {
  caCertificateFile,
  cloudConfigSecretObject,
  cloudControllerAccess,
  cloudControllerDaemonSet,
} from "../../../../components/addons/manifests/cloud-controller.js";
import {
  dataClaim,
  samplesNamespaceObject,
  webDeployment,
  webIngress,
  webService,
  writerConfigMap,
  writerStatefulSet,
} from "../../../../components/addons/manifests/samples.js";
import {
  keystoneDaemonSet,
  keystoneSecret,
} from "../../../../components/addons/manifests/keystone-auth.js";
import {
  metricsApiService,
  metricsReaderRole,
  metricsServer,
  metricsServerAccess,
  metricsService,
} from "../../../../components/addons/manifests/metrics-server.js";
import {
  ingressClass,
  fixedIngressAddressFlag,
  publishedServiceFlag,
  traefikDeployment,
  traefikAccess,
  traefikDisruptionBudget,
  traefikNamespaceObject,
  traefikService,
} from "../../../../components/addons/manifests/traefik.js";
import {
  snapshotClass,
  snapshotController,
  snapshotControllerAccess,
  snapshotCrds,
} from "../../../../components/addons/manifests/snapshots.js";
import {
  cinderCsiDriverObject,
  storageClass,
} from "../../../../components/addons/manifests/storage-class.js";
import type { CloudConf } from "../../../../components/addons/cloud-conf.js";
import type { IngressSpec } from "../../../../components/config/load-balancing/ingress.js";
import { accessObjects, lookups, type AnyObject } from "../../../support/kubernetes-objects.js";

export const exampleCloud: CloudConf = {
  authUrl: "https://identity.example:5000/v3",
  region: "example",
  login: {
    applicationCredentialId: "5d6a0c1b0c2f4a0d9f6f",
    applicationCredentialSecret: 'se"cr;et #1\\',
  },
  subnetId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0001",
  networkId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0002",
  floatingNetworkId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0003",
  loadBalancerProvider: "amphora",
  caFile: caCertificateFile,
};

const images = imageTable("1.36.3");
const clusterName = "example-0123456789ab";
const configChecksum = "0".repeat(64);

/** Ingress controller on the machines of one pool. */
export const pinned = {
  kind: "workers",
  pool: "edge",
  replicas: 2,
  defaultClass: true,
  public: true,
} satisfies IngressSpec;
export const taints = [{ key: "edge", value: "yes", effect: "NoSchedule" }];
/** Ingress controller on any machine, behind a Service. */
export const balanced = {
  kind: "service",
  replicas: 3,
  defaultClass: false,
  public: false,
  annotations: { "loadbalancer.openstack.org/flavor-id": "small" },
} satisfies IngressSpec;
export const anywhere = traefikDeployment({
  image: images.traefik,
  spec: balanced,
  shown: publishedServiceFlag,
});

const made: Readonly<Record<string, readonly object[]>> = {
  "cloud-controller": [
    ...accessObjects(cloudControllerAccess()),
    cloudConfigSecretObject(renderCloudConf(exampleCloud), {
      caCertificate: "-----BEGIN CERTIFICATE-----\n",
    }),
    cloudControllerDaemonSet({
      image: images.cloudControllerManager,
      clusterName: `--cluster-name=${clusterName}`,
      configChecksum,
    }),
  ],
  "block-storage": [
    ...accessObjects(blockStorageAccess(true)),
    blockStorageNodeAccount(),
    cinderCsiDriverObject(),
    blockStorageController({
      images,
      clusterName: `--cluster=${clusterName}`,
      configChecksum,
      snapshots: true,
    }),
    blockStorageNode({ images }),
    storageClass({ name: "gold", default: true }),
    storageClass({ name: "zone-a", default: false, type: "fast", availability: "zone-a" }),
    storageClass({ name: "kept", default: false, reclaimPolicy: "Retain", zones: ["zone-b"] }),
  ],
  snapshots: [
    ...snapshotCrds().map(([, definition]) => definition),
    ...accessObjects(snapshotControllerAccess()),
    snapshotController(images.snapshotController),
    snapshotClass(),
  ],
  "metrics-server": [
    ...accessObjects(metricsServerAccess()),
    metricsReaderRole(),
    metricsService(),
    metricsApiService(),
    metricsServer({ image: images.metricsServer, signedKubelets: false }),
  ],
  "keystone-auth": [
    keystoneSecret({
      certificate: "-----BEGIN CERTIFICATE-----\n",
      privateKey: "example",
      caCertificate: "CA",
      policy: [
        { projects: ["demo"], roles: ["member"], resources: { "*/pods": ["get"] }, paths: {} },
        { projects: ["ops"], roles: [], resources: {}, paths: { "/version": ["get"] } },
      ],
    }),
    keystoneDaemonSet({
      image: images.keystoneAuth,
      url: exampleCloud.authUrl,
      caCertificate: true,
      policy: true,
      checksum: configChecksum,
    }),
  ],
  traefik: [
    traefikNamespaceObject(),
    ...accessObjects(traefikAccess()),
    ingressClass(pinned),
    traefikDeployment({
      image: images.traefik,
      spec: pinned,
      taints,
      shown: `${fixedIngressAddressFlag}203.0.113.8`,
    }),
    traefikService(pinned),
    traefikDisruptionBudget(),
  ],
  samples: [
    samplesNamespaceObject(),
    webDeployment(images.agnhost),
    webService("external"),
    webService("internal"),
    webIngress(),
    dataClaim(),
    writerConfigMap("#!/bin/sh\necho example\n"),
    writerStatefulSet(images.agnhost),
  ],
};

/** All objects, by the name of their golden file. */
export const objects = made as Readonly<Record<string, readonly AnyObject[]>>;

export const { find, podSpecs, podOf, containerOf, argsOf } = lookups(objects);
