import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import type { PinnedManifest } from "../../base/versions/pod-network-manifests.js";
import { Addon } from "../kubernetes-objects/addon.js";
import { ProgramError } from "../pulumi/errors.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";
import { readPinnedManifest } from "./manifest-check.js";
import {
  isWorkload,
  getManifestType,
  type RequiredManifestParts,
  type ManifestObject,
  type ManifestType,
} from "./manifest-objects.js";

type Made = new (
  name: string,
  args: ManifestObject,
  opts?: pulumi.CustomResourceOptions,
) => pulumi.CustomResource;

const { core, rbac, apps, policy, apiextensions } = kubernetes;

/** Pulumi class for each type of object. The compiler reports a type that has no class. */
const classes: Readonly<Record<ManifestType, unknown>> = {
  "v1 Namespace": core.v1.Namespace,
  "v1 ServiceAccount": core.v1.ServiceAccount,
  "v1 ConfigMap": core.v1.ConfigMap,
  "v1 Secret": core.v1.Secret,
  "v1 Service": core.v1.Service,
  "rbac.authorization.k8s.io/v1 ClusterRole": rbac.v1.ClusterRole,
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": rbac.v1.ClusterRoleBinding,
  "rbac.authorization.k8s.io/v1 Role": rbac.v1.Role,
  "rbac.authorization.k8s.io/v1 RoleBinding": rbac.v1.RoleBinding,
  "apiextensions.k8s.io/v1 CustomResourceDefinition": apiextensions.v1.CustomResourceDefinition,
  "policy/v1 PodDisruptionBudget": policy.v1.PodDisruptionBudget,
  "apps/v1 DaemonSet": apps.v1.DaemonSet,
  "apps/v1 Deployment": apps.v1.Deployment,
};

const classOf = (object: ManifestObject): Made => classes[getManifestType(object)] as Made;

/** Returns the last part of a resource's name, such as `daemon-set-calico-node`. */
const roleOf = ({ kind, metadata: { name } }: ManifestObject): string =>
  `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}-${name}`;

/** Add-on that creates one resource for each object of a published manifest. */
export abstract class ManifestAddon extends Addon {
  /**
   * Returns the objects of the published manifest. Throws an error if the manifest is invalid.
   * Normally, an earlier check has already refused such a manifest.
   */
  protected read(
    pinned: PinnedManifest,
    anchors: RequiredManifestParts,
    files: PinnedFileDirectories | undefined,
  ): readonly ManifestObject[] {
    const manifest = readPinnedManifest(pinned, anchors, files);
    if ("problem" in manifest) throw new ProgramError("INVALID_CONFIG", manifest.problem);
    return manifest.objects;
  }

  /** Creates all objects and returns the DaemonSet with the given name. */
  protected deploy(
    objects: readonly ManifestObject[],
    daemonSet: string,
  ): kubernetes.apps.v1.DaemonSet {
    const before = objects
      .filter((object) => !isWorkload(object))
      .map((object) => this.object(classOf(object), roleOf(object), object));
    const workloads = objects.filter(isWorkload).map((object) => ({
      object,
      made: this.object(classOf(object), roleOf(object), object, {
        // The API server refuses pods without their service account, and the pods fail without
        // permissions, CRDs and configuration. These objects are therefore created first.
        dependsOn: before,
        customTimeouts: this.daemonSetTimeouts,
      }),
    }));
    const found = workloads.find(({ object: { metadata } }) => metadata.name === daemonSet);
    return found?.made as kubernetes.apps.v1.DaemonSet;
  }
}
