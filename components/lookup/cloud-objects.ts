import * as pulumi from "@pulumi/pulumi";
import { isPlaceholder } from "../../base/placeholders.js";
import type { RequiredLookups } from "../../openstack/checks/required-lookups.js";
import { addPluginVersion } from "../pulumi/openstack-plugin.js";
import { resolvePlaceholders } from "../pulumi/placeholders.js";
import {
  findExternalNetwork,
  findNeededNames,
  flavorLookups,
  ignoreUnlessNeeded,
  imageLookups,
  requireAdminNetwork,
  requireExistingNetwork,
  requireFound,
  requireSecurityGroupId,
  requireServicesExternalNetwork,
  securityGroupLookups,
  type CloudFacts,
  type FoundExternalNetwork,
} from "./cloud-lookup.js";
import { findFloatingIp } from "./existing-floating-ip.js";
import {
  findAdminNetwork,
  findNetwork,
  type FoundAdminNetwork,
  type FoundNetwork,
} from "./existing-network.js";
import { findFirstMatch, type Lookup } from "./lookup-result.js";

type FindLookups = (reference: string, opts: pulumi.InvokeOptions) => readonly Lookup[];

/**
 * Cloud objects of a specification, each by its reference. A reference that is known before the run
 * was looked up before. A placeholder is looked up as soon as its output is known: in a preview, or
 * else in the update. Each object is a separate output, so a resource waits only for the objects
 * that it uses.
 */
export class CloudObjects {
  readonly #ids = new Map<string, pulumi.Output<string>>();
  readonly #opts: pulumi.InvokeOptions;
  #network?: pulumi.Output<FoundNetwork>;

  constructor(
    private readonly wanted: RequiredLookups,
    private readonly cloud: pulumi.Output<CloudFacts>,
    opts: pulumi.InvokeOptions,
  ) {
    this.#opts = addPluginVersion(wanted.openstackPlugin, opts);
  }

  imageId(reference: string): pulumi.Output<string> {
    return isPlaceholder(reference)
      ? this.idOf("image", reference, imageLookups)
      : this.cloud.apply(({ imageIds }) => imageIds[reference] ?? "");
  }

  flavorId(reference: string): pulumi.Output<string> {
    return isPlaceholder(reference)
      ? this.idOf("flavor", reference, flavorLookups)
      : this.cloud.apply(({ flavorIds }) => flavorIds[reference] ?? "");
  }

  securityGroupId(reference: string): pulumi.Output<string> {
    return isPlaceholder(reference)
      ? this.idOf("security group", reference, securityGroupLookups)
      : this.cloud.apply((facts) => requireSecurityGroupId(facts, reference));
  }

  /**
   * Returns the address of an existing floating IP. An address that is known only during the run is
   * checked then, as other addresses are checked before the run.
   */
  floatingIp(address: string): pulumi.Input<string> {
    const path = this.wanted.floatingIps?.find((one) => one.address === address)?.path;
    if (path === undefined || !isPlaceholder(address)) return address;
    return pulumi.output(resolvePlaceholders(address)).apply(async (known) => {
      requireFound(await findFloatingIp({ address: known, path }, this.#opts));
      return known;
    });
  }

  get externalNetwork(): pulumi.Output<FoundExternalNetwork> {
    const { externalNetwork: reference = "" } = this.wanted;
    return isPlaceholder(reference)
      ? this.findExternal(reference)
      : this.cloud.apply(({ externalNetworkId: id, externalNetworkName: name }) => ({ id, name }));
  }

  get servicesExternalNetwork(): pulumi.Output<FoundExternalNetwork> {
    const { servicesExternalNetwork: reference = "" } = this.wanted;
    return isPlaceholder(reference)
      ? this.findExternal(reference)
      : this.cloud.apply(requireServicesExternalNetwork);
  }

  /** Existing network for the machines. */
  get network(): pulumi.Output<FoundNetwork> {
    return (this.#network ??= this.findExistingNetwork());
  }

  private findExistingNetwork(): pulumi.Output<FoundNetwork> {
    const { network: wanted, externalNetwork } = this.wanted;
    const named = [wanted?.network, wanted?.subnet, wanted?.router];
    if (!wanted || !named.some(isOutput)) return this.cloud.apply(requireExistingNetwork);
    return pulumi.output(resolvePlaceholders({ wanted, externalNetwork })).apply(async (known) => {
      const { externalNetwork: reference } = known;
      const outside =
        reference === undefined ? undefined : findExternalNetwork(reference, this.#opts);
      return requireFound(await findNetwork(known.wanted, { outside, opts: this.#opts }));
    });
  }

  /** Network of the machines' second interfaces. */
  get adminNetwork(): pulumi.Output<FoundAdminNetwork> {
    const { admin } = this.wanted;
    if (!admin || ![admin.network, admin.subnet].some(isOutput))
      return this.cloud.apply(requireAdminNetwork);
    return pulumi
      .output(resolvePlaceholders(admin))
      .apply(async (known) => requireFound(await findAdminNetwork(known, { opts: this.#opts })));
  }

  private findExternal(reference: string): pulumi.Output<FoundExternalNetwork> {
    return pulumi.output(resolvePlaceholders(reference)).apply(async (known) => {
      const { id, name = "" } = requireFound(await findExternalNetwork(known, this.#opts));
      return { id, name };
    });
  }

  /** Looks up an object by its placeholder, only once for all machines. */
  private idOf(what: string, placeholder: string, find: FindLookups): pulumi.Output<string> {
    const before = this.#ids.get(placeholder);
    if (before) return before;
    const { machines } = this.wanted;
    const id = pulumi
      .all([resolvePlaceholders(placeholder), this.cloud])
      .apply(async ([reference, { servers }]) => {
        const looking = findFirstMatch(what, reference, find(reference, this.#opts));
        const needed = findNeededNames(machines, servers);
        return requireFound(await ignoreUnlessNeeded(needed, placeholder, looking)).id;
      });
    this.#ids.set(placeholder, id);
    return id;
  }
}

const isOutput = (reference: string | undefined): boolean =>
  reference !== undefined && isPlaceholder(reference);
