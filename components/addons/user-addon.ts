import * as pulumi from "@pulumi/pulumi";
import { readUserAddon } from "../config/kubernetes/user-addon-manifests.js";
import type { OrderedAddon } from "../config/kubernetes/user-addons.js";
import { Addon, loadBalancerServiceTimeouts, type AddonArgs } from "../kubernetes-objects/addon.js";
import { KubernetesObject } from "../kubernetes-objects/kubernetes-object.js";
import {
  divideIntoStages,
  documentStages,
  type ManifestDocument,
} from "../kubernetes-objects/manifest-documents.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";
import { ProgramError } from "../pulumi/errors.js";
import { joinLists, type ResourceList } from "../pulumi/resource-lists.js";

/** Arguments of {@link UserAddon}. A changed manifest updates its objects in place. */
export interface UserAddonArgs extends AddonArgs {
  readonly addon: OrderedAddon;
  /** Directories for the manifest and for its cache. */
  readonly files: PinnedFileDirectories | undefined;
  /**
   * Whether the text of the add-on may contain an encrypted value of the settings. The plan then
   * hides all fields of its objects.
   */
  readonly secret: boolean;
  /** Add-ons that are deployed first. */
  readonly after: readonly pulumi.Resource[];
  /**
   * Resources that must exist while the cluster deletes what the add-on owns in the cloud. Unused
   * for an add-on that exists as long as the machines.
   */
  readonly keeping: ResourceList;
}

/** Returns the last part of a resource's name, such as `deployment-shop-web`. */
const roleOf = ({ kind, metadata: { name, namespace } }: ManifestDocument): string =>
  [kind.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase(), namespace, name]
    .filter((part) => part !== undefined)
    .join("-");

const isBalanced = ({ kind, spec }: ManifestDocument): boolean =>
  kind === "Service" && (spec as { readonly type?: unknown } | undefined)?.type === "LoadBalancer";

/** Add-on that the user describes with a manifest. */
export class UserAddon extends Addon {
  static readonly type = "stackadm:addons:UserAddon";

  constructor(name: string, args: UserAddonArgs, opts?: pulumi.ComponentResourceOptions) {
    super(UserAddon.type, name, args, opts);
    const read = readUserAddon(args.addon, args.files);
    // An earlier check has already refused such a manifest.
    if ("problems" in read) throw new ProgramError("INVALID_CONFIG", read.problems.join("; "));
    const stages = divideIntoStages(read.objects);
    const { after, keeping, addon, secret } = args;
    let before = after;
    for (const stage of documentStages) {
      const owns = addon.released && (stage === "workloads" || stage === "custom");
      const made = stages[stage].map((object) => {
        const shown = secret ? conceal(object) : object;
        const options: pulumi.CustomResourceOptions = {
          // order: the API refuses objects without their namespace or definition, and pods need
          // their settings. The controllers of the cluster and of the add-on must still run while
          // objects that may own something in the cloud are deleted.
          dependsOn: owns ? joinLists(before, keeping) : [...before],
          ...(isBalanced(object) && { customTimeouts: loadBalancerServiceTimeouts }),
        };
        // Objects without `deletedWith` are deleted by a destroy.
        return owns
          ? this.make(KubernetesObject, roleOf(object), shown, options)
          : this.object(KubernetesObject, roleOf(object), shown, options);
      });
      before = [...before, ...made];
    }
    this.registerOutputs({});
  }
}

/** Returns the object with secret fields. Its name stays readable. */
function conceal(object: ManifestDocument): ManifestDocument {
  const { apiVersion, kind, metadata, ...fields } = object;
  const hidden = Object.entries(fields).map(([key, value]) => [key, pulumi.secret(value)]);
  return { apiVersion, kind, metadata, ...(Object.fromEntries(hidden) as object) };
}
