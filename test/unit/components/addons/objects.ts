/** Objects of all add-ons for an example cluster, by add-on. */
import { renderCloudConf } from "../../../../components/addons/cloud-conf.js";
import { createImageTable } from "../../../../base/versions/container-images.js";
import {
  buildBlockStorageRbac,
  buildBlockStorageController,
} from "../../../../components/addons/manifests/block-storage.js";
import {
  buildNodeDriverDaemonSet,
  buildNodeDriverAccount,
} from "../../../../components/addons/manifests/block-storage-node.js";
import {
  caCertificateFile,
  buildCloudConfigSecret,
  buildCloudControllerRbac,
  buildCloudControllerDaemonSet,
} from "../../../../components/addons/manifests/cloud-controller.js";
import {
  buildDataClaim,
  buildSamplesNamespace,
  buildWebDeployment,
  buildWebIngress,
  buildWebService,
  buildWriterConfigMap,
  buildWriterStatefulSet,
} from "../../../../components/addons/manifests/samples.js";
import {
  buildKeystoneDaemonSet,
  buildKeystoneSecret,
} from "../../../../components/addons/manifests/keystone-auth.js";
import {
  buildMetricsApiService,
  buildMetricsReaderRole,
  buildMetricsServerDeployment,
  buildMetricsServerRbac,
  buildMetricsService,
} from "../../../../components/addons/manifests/metrics-server.js";
import {
  buildIngressClass,
  fixedIngressAddressFlag,
  publishedServiceFlag,
  buildTraefikDeployment,
  buildTraefikRbac,
  buildTraefikDisruptionBudget,
  buildTraefikNamespace,
  buildTraefikService,
} from "../../../../components/addons/manifests/traefik.js";
import {
  buildSnapshotClass,
  buildSnapshotController,
  buildSnapshotControllerRbac,
  buildSnapshotCrds,
} from "../../../../components/addons/manifests/snapshots.js";
import {
  buildCinderCsiDriver,
  buildStorageClass,
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

const images = createImageTable("1.36.3");
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
export const anywhere = buildTraefikDeployment({
  image: images.traefik,
  spec: balanced,
  shown: publishedServiceFlag,
});

const made: Readonly<Record<string, readonly object[]>> = {
  "cloud-controller": [
    ...accessObjects(buildCloudControllerRbac()),
    buildCloudConfigSecret(renderCloudConf(exampleCloud), {
      caCertificate: "-----BEGIN CERTIFICATE-----\n",
    }),
    buildCloudControllerDaemonSet({
      image: images.cloudControllerManager,
      clusterName: `--cluster-name=${clusterName}`,
      configChecksum,
    }),
  ],
  "block-storage": [
    ...accessObjects(buildBlockStorageRbac(true)),
    buildNodeDriverAccount(),
    buildCinderCsiDriver(),
    buildBlockStorageController({
      images,
      clusterName: `--cluster=${clusterName}`,
      configChecksum,
      snapshots: true,
    }),
    buildNodeDriverDaemonSet({ images }),
    buildStorageClass({ name: "gold", default: true }),
    buildStorageClass({ name: "zone-a", default: false, type: "fast", availability: "zone-a" }),
    buildStorageClass({ name: "kept", default: false, reclaimPolicy: "Retain", zones: ["zone-b"] }),
  ],
  snapshots: [
    ...buildSnapshotCrds().map(([, definition]) => definition),
    ...accessObjects(buildSnapshotControllerRbac()),
    buildSnapshotController(images.snapshotController),
    buildSnapshotClass(),
  ],
  "metrics-server": [
    ...accessObjects(buildMetricsServerRbac()),
    buildMetricsReaderRole(),
    buildMetricsService(),
    buildMetricsApiService(),
    buildMetricsServerDeployment({ image: images.metricsServer, signedKubelets: false }),
  ],
  "keystone-auth": [
    buildKeystoneSecret({
      certificate: "-----BEGIN CERTIFICATE-----\n",
      privateKey: "example",
      caCertificate: "CA",
      policy: [
        { projects: ["demo"], roles: ["member"], resources: { "*/pods": ["get"] }, paths: {} },
        { projects: ["ops"], roles: [], resources: {}, paths: { "/version": ["get"] } },
      ],
    }),
    buildKeystoneDaemonSet({
      image: images.keystoneAuth,
      url: exampleCloud.authUrl,
      caCertificate: true,
      policy: true,
      checksum: configChecksum,
    }),
  ],
  traefik: [
    buildTraefikNamespace(),
    ...accessObjects(buildTraefikRbac()),
    buildIngressClass(pinned),
    buildTraefikDeployment({
      image: images.traefik,
      spec: pinned,
      taints,
      shown: `${fixedIngressAddressFlag}203.0.113.8`,
    }),
    buildTraefikService(pinned),
    buildTraefikDisruptionBudget(),
  ],
  samples: [
    buildSamplesNamespace(),
    buildWebDeployment(images.agnhost),
    buildWebService("external"),
    buildWebService("internal"),
    buildWebIngress(),
    buildDataClaim(),
    buildWriterConfigMap("#!/bin/sh\necho example\n"),
    buildWriterStatefulSet(images.agnhost),
  ],
};

/** All objects, by the name of their golden file. */
export const objects = made as Readonly<Record<string, readonly AnyObject[]>>;

export const { find, podSpecs, podOf, containerOf, argsOf } = lookups(objects);
