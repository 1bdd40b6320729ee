import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import {
  getClusterDescriptionOutput,
  getClusterMetadataOutput,
  getClusterTagsOutput,
  type ClusterMarkInput,
} from "../identity/resource-tags.js";
import { deriveSshKey, getHostKeyPurpose } from "../identity/derived-ssh-keys.js";
import { findAddressOfFamily } from "../../base/ip-addresses.js";
import type { AdminNetwork } from "../network/second-interface-network.js";
import type { PlannedMachine } from "../plan/cluster-plan.js";
import { getAdminPortName } from "../plan/object-names.js";
import { roleTable } from "../config/roles.js";
import { renderVolumeLines, type PlannedVolume } from "../plan/volumes.js";
import type { CloudObjects } from "../lookup/cloud-objects.js";
import { Component } from "../pulumi/component.js";
import { generationMetadataKey } from "../../openstack/inventory/ownership.js";
import type { UnreachableServers, ScriptServer } from "../lifecycle/unreachable-servers.js";
import { creationTimeoutMinutes, formatMinutes } from "../lifecycle/create-timeouts.js";
import { delayOutputUntil } from "../pulumi/await-output.js";
import { resolvePlaceholders } from "../pulumi/placeholders.js";
import type { SshConnection, SshEndpoint } from "../remote-scripts/remote-script.js";
import type { MachinesIpv6 } from "../network/network.js";
import type { SecondInterface } from "./second-interface.js";
import { renderUserData } from "./user-data.js";
import { buildBlockDevices, type MachineVolume } from "./block-devices.js";

/** Settings that all machines of a cluster have in common. */
export interface CommonMachineSettings {
  readonly mark: ClusterMarkInput;
  /** Returns the IDs of images, flavors and security groups in the plan. */
  readonly objects: Pick<CloudObjects, "imageId" | "flavorId" | "securityGroupId">;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** IPv6 subnet and CIDRs of the machines. Undefined if machines have no IPv6. */
  readonly ipv6?: MachinesIpv6 | undefined;
  /**
   * CIDRs of pods and Services from which a port may send, in addition to the machine's address.
   */
  readonly routedRanges: readonly string[];
  /**
   * Whether the cloud controller sets the allowed address pairs of the ports when it sets routes.
   */
  readonly routesOfCloud: boolean;
  /** Network of the machines' second interfaces. Undefined if machines have one interface. */
  readonly admin?: AdminNetwork | undefined;
  /** Whether Neutron filters traffic at the ports. */
  readonly portSecurity: boolean;
  readonly login: { readonly user: string; readonly publicKey: string };
  /** Secret seed in base64, from which the host keys of the machines are derived. */
  readonly seed: pulumi.Input<string>;
  readonly failed: UnreachableServers;
  /**
   * Certificate of the cloud's private CA, in PEM format. A change updates the machines in place.
   * @default none: machines trust only public CAs
   */
  readonly cloudAuthority?: string | undefined;
}

export interface MachineArgs extends CommonMachineSettings {
  /** Plan of the machine. A changed name replaces the machine. */
  readonly plan: PlannedMachine;
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /** Further addresses from which the machine's port may send, such as the virtual IP. */
  readonly allowedAddresses: readonly pulumi.Input<string>[];
  /**
   * ID of the server group that contains the machine's server.
   * @default none: Nova may put several machines on one host
   */
  readonly serverGroupId?: pulumi.Input<string>;
  /** ID of a server that Nova must place before this machine's server. @default none */
  readonly placedAfter?: pulumi.Output<string> | undefined;
  /**
   * Generation of the machine. A changed generation replaces the server. Changes of image, flavor,
   * user data and login key apply only then. The value becomes known after all machines that must
   * be replaced earlier are replaced.
   */
  readonly generation: pulumi.Input<number>;
}

/** Machine: a server with its ports and volumes. */
export class Machine extends Component {
  static readonly type = "stackadm:machine:Machine";
  readonly machine: string;
  readonly zone: pulumi.Output<string>;
  readonly portId: pulumi.Output<string>;
  /** Address in the machines' network. Known before the server exists. */
  readonly address: pulumi.Output<string>;
  /** IPv6 address. Undefined if machines have no IPv6. */
  readonly ipv6Address?: pulumi.Output<string>;
  /** Address of the second interface. Undefined if the machine has one interface. */
  readonly adminAddress?: pulumi.Output<string>;
  readonly serverId: pulumi.Output<string>;
  /** Public host key, in the form `ssh-ed25519 AAAA...`. */
  readonly hostKey: pulumi.Output<string>;
  readonly server: openstack.compute.Instance;
  /**
   * Volumes of the machine, one line for each. scripts/prepare/mount-volumes.sh reads these lines.
   */
  readonly volumes: pulumi.Output<string>;
  readonly #user: string;

  constructor(name: string, args: MachineArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Machine.type, name, opts);
    const key = hostKeyOf(args);
    const port = this.port(args);
    const adminPort = args.admin && this.adminPort(args, args.admin);
    const volumes = args.plan.volumes.map((planned) => this.volume(planned, args));
    this.server = this.createServer(args, { port, adminPort, key, volumes });
    this.volumes = pulumi
      .all(volumes.map(({ volume }) => volume.id))
      .apply((ids) => renderVolumeLines(args.plan.volumes, ids));
    this.machine = args.plan.name;
    this.#user = args.login.user;
    this.zone = this.server.availabilityZone;
    this.portId = port.id;
    this.address = addressIn(port, "IPv4");
    if (args.ipv6) this.ipv6Address = addressIn(port, "IPv6");
    if (adminPort) this.adminAddress = addressIn(adminPort, "IPv4");
    this.serverId = this.server.id;
    this.hostKey = pulumi.unsecret(key.publicKey);
    this.registerOutputs({ address: this.address, serverId: this.serverId, hostKey: this.hostKey });
  }

  /**
   * Returns the SSH hop to this machine, at the address `host`. The address becomes known only when
   * the server has been created, so no script connects earlier.
   */
  ssh(host: pulumi.Input<string>): SshEndpoint {
    const known = pulumi.all([host, this.serverId]).apply(([address]) => address);
    return {
      host: known,
      user: this.#user,
      hostKey: this.hostKey,
      machine: this.machine,
      server: this.serverId,
    };
  }

  /** Returns the values that error messages about a failed script need. */
  reachedBy(connection: SshConnection): ScriptServer {
    return { machine: this.machine, serverId: this.serverId, connection };
  }

  private port(args: MachineArgs): openstack.networking.Port {
    return this.make(
      openstack.networking.Port,
      "port",
      {
        name: args.plan.name,
        description: getClusterDescriptionOutput(args.mark),
        networkId: args.networkId,
        adminStateUp: true,
        fixedIps: [
          {
            subnetId: args.subnetId,
            ...(args.plan.address !== undefined && { ipAddress: args.plan.address }),
          },
          ...(args.ipv6 ? [{ subnetId: args.ipv6.subnetId }] : []),
        ],
        ...(args.portSecurity
          ? {
              securityGroupIds: [...args.securityGroupIds],
              allowedAddressPairs: [...args.routedRanges, ...args.allowedAddresses].map(
                (ipAddress) => ({ ipAddress }),
              ),
            }
          : { portSecurityEnabled: false, noSecurityGroups: true }),
        tags: getClusterTagsOutput(args.mark),
      },
      // The cloud controller adds an allowed address pair for each route. Without this option, an
      // `up` after a refresh would remove these pairs.
      args.routesOfCloud ? { ignoreChanges: ["allowedAddressPairs"] } : {},
    );
  }

  private adminPort(
    { plan, mark }: MachineArgs,
    { found, securityGroupIds }: AdminNetwork,
  ): openstack.networking.Port {
    return this.make(openstack.networking.Port, "admin-port", {
      name: getAdminPortName(plan),
      description: getClusterDescriptionOutput(mark),
      networkId: found.networkId,
      adminStateUp: true,
      fixedIps: [{ subnetId: found.subnetId }],
      securityGroupIds: [...securityGroupIds],
      tags: getClusterTagsOutput(mark),
    });
  }

  /**
   * Creates a volume. A changed generation replaces both server and volume. The new volume is
   * empty, or a copy of the image.
   */
  private volume(planned: PlannedVolume, args: MachineArgs): MachineVolume {
    const { purpose, name, size, type, zone } = planned;
    const volume = this.make(
      openstack.blockstorage.Volume,
      `${purpose}-volume`,
      {
        name,
        size,
        metadata: getClusterMetadataOutput(args.mark),
        ...(type !== undefined && { volumeType: type }),
        ...(zone !== undefined && { availabilityZone: zone }),
        ...(purpose === "root" && { imageId: args.objects.imageId(args.plan.image) }),
      },
      {
        replacementTrigger: args.generation,
        // Cinder itself changes the metadata. Changes of the other values apply only when the
        // generation changes.
        ignoreChanges: ["imageId", "metadata", "availabilityZone", "size", "volumeType"],
        customTimeouts: { create: formatMinutes(creationTimeoutMinutes.volume) },
      },
    );
    return { planned, volume };
  }

  private createServer(args: MachineArgs, parts: Parts): openstack.compute.Instance {
    const { plan, failed } = args;
    const { port, adminPort, volumes } = parts;
    const machine = plan.name;
    const metadata = resolvePlaceholders(plan.metadata);
    const imageId = args.objects.imageId(plan.image);
    const boots = volumes.some(({ planned }) => planned.purpose === "root");
    return this.make(
      openstack.compute.Instance,
      "server",
      {
        // Sets powerState to its default value. Without this input, the next run would remove the
        // ignored input from the state, and would write the whole state once for each server.
        name: machine,
        configDrive: true,
        powerState: "active",
        // In a cloud with soft deletion, a server that is deleted without force keeps its port and
        // its volumes in use, so its successor could not be created.
        forceDelete: true,
        ...(!boots && { imageId }),
        ...(volumes.length > 0 && { blockDevices: buildBlockDevices(imageId, volumes) }),
        flavorId: delayOutputUntil(args.placedAfter, args.objects.flavorId(plan.flavor)),
        // The default route of the server leads through the first network in the list.
        networks: [port, ...(adminPort ? [adminPort] : [])].map(({ id }) => ({ port: id })),
        ...(plan.zone !== undefined && { availabilityZone: plan.zone }),
        schedulerHints: hintsOf(args),
        ...(plan.tags.length > 0 && { tags: resolvePlaceholders([...plan.tags]) }),
        metadata: pulumi
          .all([getClusterMetadataOutput(args.mark), args.generation, metadata])
          .apply(([marks, generation, own]) => ({
            ...own,
            ...marks,
            [generationMetadataKey]: String(generation),
          })),
        userData: userDataOf(args, parts),
      },
      {
        // The old and the new server have the same name, so the old server is deleted first. A
        // server that Nova put into ERROR leaves an init error in the state, and `#initerror` makes
        // Pulumi replace this server.
        deleteBeforeReplace: true,
        replaceOnChanges: ["#initerror"],
        replacementTrigger: args.generation,
        ignoreChanges: listIgnoredServerInputs(machine, failed),
        customTimeouts: { create: formatMinutes(creationTimeoutMinutes.server) },
        hooks: { onError: [failed.createServerErrorHook(machine)] },
      },
    );
  }
}

/**
 * Returns the inputs of a server whose changes are ignored. A failed update of a working server
 * would leave an init error in the state, and Pulumi would then replace the server.
 */
const listIgnoredServerInputs = (machine: string, failed: UnreachableServers): string[] => [
  ...["imageId", "imageName", "keyPair", "flavorId", "availabilityZone", "blockDevices"],
  ...["metadata", "forceDelete", "schedulerHints", "tags"],
  ...(failed.isPowerStateRefused(machine) ? [] : ["powerState"]),
  ...(failed.findNeverAnsweredServer(machine) === undefined ? ["userData"] : []),
];

/** Resources and key that the machine's server needs. */
interface Parts {
  readonly port: openstack.networking.Port;
  readonly adminPort: openstack.networking.Port | undefined;
  readonly key: pulumi.Output<ReturnType<typeof deriveSshKey>>;
  readonly volumes: readonly MachineVolume[];
}

/**
 * Returns the host key, which depends on the generation unless machines of the role keep their host
 * key. A key that depends on the generation becomes known together with the generation.
 */
const hostKeyOf = ({ plan, seed, generation }: MachineArgs): Parts["key"] =>
  pulumi
    .all([seed, roleTable[plan.role].keepsHostKey ? 0 : generation])
    .apply(([text, made]) => deriveSshKey(text, getHostKeyPurpose(plan.name, made)));

/**
 * Returns the address of the port in an IP family. Neutron may have added further IPv6 addresses to
 * the port.
 */
const addressIn = (
  { allFixedIps }: openstack.networking.Port,
  family: "IPv4" | "IPv6",
): pulumi.Output<string> => allFixedIps.apply((all) => findAddressOfFamily(family, all));

const secondInterface = (
  port: openstack.networking.Port | undefined,
  admin: AdminNetwork | undefined,
): pulumi.Output<SecondInterface | undefined> =>
  port && admin
    ? pulumi
        .all([port.macAddress, addressIn(port, "IPv4"), admin.found])
        .apply(([mac, address, { range, mtu, gateway }]) => ({
          mac: mac.toLowerCase(),
          address,
          range,
          mtu,
          gateway,
        }))
    : pulumi.output(undefined);

const hintsOf = ({
  serverGroupId,
  plan: { schedulerHints: more },
}: MachineArgs): openstack.types.input.compute.InstanceSchedulerHint[] => {
  const asked = Object.keys(more).length > 0;
  if (serverGroupId === undefined && !asked) return [];
  return [
    {
      ...(serverGroupId !== undefined && { group: serverGroupId }),
      ...(asked && { additionalProperties: resolvePlaceholders({ ...more }) }),
    },
  ];
};

/** Returns the user data for cloud-init, including the machine's SSH host key. */
function userDataOf(
  { plan, login, failed, admin }: MachineArgs,
  { adminPort, key: hostKey }: Parts,
): pulumi.Output<string> {
  const replaces = failed.findNeverAnsweredServer(plan.name);
  return pulumi
    .all([hostKey, secondInterface(adminPort, admin), resolvePlaceholders(login)])
    .apply(([key, second, known]) =>
      renderUserData({
        machine: plan.name,
        login: known,
        hostKey: key,
        more: plan.cloudInit,
        second,
        ...(replaces !== undefined && { replaces }),
      }),
    );
}
