/** Every object that the add-ons make, for one example cluster, by add-on. */
import { stringify } from "yaml";
import { renderCloudConf } from "../../../components/addons/cloud-conf.js";
import { imageTable } from "../../../components/addons/images.js";
import {
  blockStorageAccess,
  blockStorageController,
  blockStorageNode,
  blockStorageNodeAccount,
} from "../../../components/addons/manifests/block-storage.js";
import {
  caCertificateFile,
  cloudConfigSecretObject,
  cloudControllerAccess,
  cloudControllerDaemonSet,
} from "../../../components/addons/manifests/cloud-controller.js";
import {
  cniConfiguration,
  kubeRouterAccess,
  kubeRouterConfigMap,
  kubeRouterDaemonSet,
} from "../../../components/addons/manifests/kube-router.js";
import {
  dataClaim,
  samplesNamespaceObject,
  webDeployment,
  webService,
  writerScript,
  writerStatefulSet,
} from "../../../components/addons/manifests/samples.js";
import {
  cinderCsiDriver,
  storageClass,
} from "../../../components/addons/manifests/storage-class.js";
import type { CloudConf } from "../../../components/addons/cloud-conf.js";
import type { Access } from "../../../components/addons/manifests/access.js";
import type {
  Container,
  KubernetesObject,
  PodSpec,
  PolicyRule,
} from "../../../components/addons/manifests/types.js";

export type AnyObject = KubernetesObject<string, string>;

export const exampleCloud: CloudConf = {
  authUrl: "https://identity.example:5000/v3",
  region: "example",
  applicationCredentialId: "5d6a0c1b0c2f4a0d9f6f",
  applicationCredentialSecret: 'se"cr;et #1\\',
  subnetId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0001",
  networkId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0002",
  floatingNetworkId: "8f1e8f14-5d3a-4a51-9d05-3f6b3a1a0003",
  loadBalancerProvider: "amphora",
  caFile: caCertificateFile,
};

const images = imageTable("1.36.3");
const clusterName = "example";
const configChecksum = "0".repeat(64);

const accessObjects = (access: Access): AnyObject[] => [
  access.serviceAccount,
  access.clusterRole,
  access.clusterRoleBinding,
  ...(access.namespaced === undefined
    ? []
    : [access.namespaced.role, access.namespaced.roleBinding]),
];

/** All objects, by the name of their golden file. */
export const objects: Readonly<Record<string, readonly AnyObject[]>> = {
  "cloud-controller": [
    ...accessObjects(cloudControllerAccess()),
    cloudConfigSecretObject(renderCloudConf(exampleCloud), "-----BEGIN CERTIFICATE-----\n"),
    cloudControllerDaemonSet({
      image: images.cloudControllerManager,
      clusterName,
      configChecksum,
    }),
  ],
  "kube-router": [
    ...accessObjects(kubeRouterAccess()),
    kubeRouterConfigMap(cniConfiguration(1350)),
    kubeRouterDaemonSet({
      image: images.kubeRouter,
      serviceCidr: "10.96.0.0/12",
      configChecksum,
    }),
  ],
  "block-storage": [
    ...accessObjects(blockStorageAccess()),
    blockStorageNodeAccount(),
    cinderCsiDriver(),
    blockStorageController({ images, clusterName, configChecksum }),
    blockStorageNode(images),
    storageClass({ name: "gold", default: true }),
    storageClass({ name: "zone-a", default: false, type: "fast", availability: "zone-a" }),
  ],
  samples: [
    samplesNamespaceObject(),
    webDeployment(images.agnhost),
    webService("external"),
    webService("internal"),
    dataClaim(),
    writerScript("#!/bin/sh\necho example\n"),
    writerStatefulSet(images.agnhost),
  ],
};

/** The objects of one file as `kubectl apply -f` takes them. */
export function toYaml(list: readonly AnyObject[]): string {
  return list
    .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join("");
}

/** The object of a kind and name, wherever it is. */
export function find(kind: string, name: string): AnyObject {
  const found = Object.values(objects)
    .flat()
    .find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) {
    throw new Error(`no ${kind} ${name} among the add-ons`);
  }
  return found;
}

/** Pods of all workloads, by kind and name. */
export function podSpecs(): ReadonlyMap<string, PodSpec> {
  const workloads = Object.values(objects)
    .flat()
    .filter((object): object is AnyObject & { spec: { template: { spec: PodSpec } } } =>
      ["DaemonSet", "Deployment", "StatefulSet"].includes(object.kind),
    );
  return new Map(
    workloads.map((object) => [
      `${object.kind} ${object.metadata.name}`,
      object.spec.template.spec,
    ]),
  );
}

/** One container of one workload. */
export function containerOf(workload: string, container: string): Container {
  const pod = podSpecs().get(workload);
  const all = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
  const found = all.find((candidate) => candidate.name === container);
  if (found === undefined) {
    throw new Error(`no container ${container} in ${workload}`);
  }
  return found;
}

/** What an account may do: "core/nodes: get list". */
export function rulesOf(access: Access): readonly string[] {
  const rules: PolicyRule[] = [
    ...access.clusterRole.rules,
    ...(access.namespaced?.role.rules ?? []),
  ];
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.map(
        (resource) => `${group === "" ? "core" : group}/${resource}: ${verbs.join(" ")}`,
      ),
    ),
  );
}
