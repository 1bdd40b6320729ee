import { findByReference, isUuid } from "../client/name-or-id.js";
import type { CloudOffer, Flavor, Image } from "./cloud-offer.js";
import type { ClusterRequirements, MachineRequirement } from "./cluster-requirements.js";
import {
  createProblem,
  createWarning,
  formatExistingNames,
  formatSeveral,
  type Finding,
} from "./finding.js";
import { checkEachMachine, type MachineChanges } from "./machine-changes.js";

/*
 * Checks whether the cloud can create the cluster's machines: whether their flavors and images
 * exist, and whether each image fits into its flavor.
 */

type Offer = Pick<CloudOffer, "flavors" | "images">;
type SizeChecks = Pick<ClusterRequirements, "sizeChecks">;

/**
 * Returns the active images with this ID or name. Without an active image, returns an inactive
 * image, for the message.
 */
function findImages(reference: string, images: readonly Image[]): readonly Image[] {
  const found = images.filter(({ id, name }) => (isUuid(reference) ? id : name) === reference);
  const active = found.filter(({ status }) => status === "active");
  return active.length > 0 ? active : found.slice(0, 1);
}

function findImageProblems({ image, paths }: MachineRequirement, { images }: Offer): string[] {
  const [found, ...more] = findImages(image, images);
  if (!found)
    return [
      `${paths.image}: '${image}' does not exist; ${formatExistingNames(images.map(({ name }) => name))}`,
    ];
  if (more.length > 0)
    return [`${paths.image}: ${formatSeveral("images", image, [found, ...more])}`];
  return found.status === "active"
    ? []
    : [
        `${paths.image}: '${image}' is ${found.status}, not active; wait until it is, or write another`,
      ];
}

const findFlavorProblems = ({ flavor, paths }: MachineRequirement, { flavors }: Offer): string[] =>
  findByReference(flavor, flavors).length > 0
    ? []
    : [
        `${paths.flavor}: '${flavor}' does not exist; ${formatExistingNames(flavors.map((one) => one.name))}`,
      ];

/**
 * Returns why the root disk of the machine is too small. By default, Nova refuses a server without
 * a root disk for users who are not administrators.
 */
function findDiskProblems(
  { flavor, image, paths, volumes }: MachineRequirement,
  { disk: size }: Flavor,
  smallest: number,
): string[] {
  const root = volumes.find(({ boots }) => boots);
  const needs = `but the image '${image}' needs ${smallest} GiB (min_disk)`;
  if (root)
    return root.size >= smallest
      ? []
      : [
          `${root.path}.size: the volume has ${root.size} GiB, ${needs}; write at least ${smallest}, or another image`,
        ];
  if (size === 0)
    return [
      `${paths.flavor}: '${flavor}' has no disk, so its machines must boot from a volume; write ${paths.group}.rootVolume with a size in GiB, or a flavor with a disk`,
    ];
  return size >= smallest
    ? []
    : [
        `${paths.flavor}: the disk of '${flavor}' has ${size} GiB, ${needs}; write a flavor with a larger disk, ${paths.group}.rootVolume of at least ${smallest} GiB, or another image`,
      ];
}

/** Returns why the image does not fit into the flavor, or into the root volume. */
function findSizeProblems(machine: MachineRequirement, { flavors, images }: Offer): string[] {
  const { flavor, image, paths } = machine;
  const [size] = findByReference(flavor, flavors);
  if (!size) return [];
  const { min_disk: disk = 0, min_ram: memory = 0 } = findImages(image, images)[0] ?? {};
  return [
    ...findDiskProblems(machine, size, disk),
    ...(size.ram >= memory
      ? []
      : [
          `${paths.flavor}: '${flavor}' has ${size.ram} MiB of RAM, but the image '${image}' needs ${memory} (min_ram); write a larger flavor, or another image`,
        ]),
  ];
}

/** Smallest size that kubeadm's preflight accepts for a control plane. RAM is in MiB. */
const smallest = { vcpus: 2, ram: 1700 };

/**
 * Returns the size checks of kubeadm's preflight that fail for the flavor. Source: kubeadm's code,
 * cmd/kubeadm/app/preflight.
 */
const findFailingChecks = ({ vcpus, ram }: Flavor): ("NumCPU" | "Mem")[] => [
  ...(vcpus < smallest.vcpus ? (["NumCPU"] as const) : []),
  ...(ram < smallest.ram ? (["Mem"] as const) : []),
];

/** Flavor of a node that is smaller than kubeadm requires. */
interface SmallNode {
  /** Beginning of the message. */
  readonly has: string;
  /** Checks that make kubeadm refuse the node. Empty: kubeadm accepts the node. */
  readonly refused: readonly string[];
}

function findSmallNode(
  { flavor, kubeadmSize, paths }: MachineRequirement,
  { flavors }: Offer,
  { sizeChecks }: SizeChecks,
): SmallNode | undefined {
  const [found] = findByReference(flavor, flavors);
  const failing = found && kubeadmSize !== "none" ? findFailingChecks(found) : [];
  if (!found || failing.length === 0) return undefined;
  const has = `${paths.flavor}: '${flavor}' has ${found.vcpus} vCPU and ${found.ram} MiB`;
  const checked = kubeadmSize === "required" ? failing : [];
  return { has, refused: checked.filter((check) => sizeChecks.includes(check)) };
}

function findRefusedControlPlane(
  machine: MachineRequirement,
  offer: Offer,
  needs: SizeChecks,
): string[] {
  const { has, refused } = findSmallNode(machine, offer, needs) ?? { has: "", refused: [] };
  return refused.length === 0
    ? []
    : [
        `${has}; kubeadm creates no control plane with less than ${smallest.vcpus} and ${smallest.ram}; write a larger flavor, or ${refused.join(" and ")} in kubernetes.ignorePreflightErrors`,
      ];
}

/** Warns about nodes that are smaller than kubeadm recommends, but that kubeadm accepts. */
function warnOfSmallNodes(
  machines: readonly MachineRequirement[],
  offer: Offer,
  needs: SizeChecks,
): Finding[] {
  const texts = machines.flatMap((machine) => {
    const small = findSmallNode(machine, offer, needs);
    return small?.refused.length === 0
      ? [`${small.has}; kubeadm wants ${smallest.vcpus} and ${smallest.ram}`]
      : [];
  });
  return [...new Set(texts)].map(createWarning);
}

/** Reports why the cloud cannot create the cluster's machines, or kubeadm their nodes. */
export function checkMachines(
  changes: MachineChanges,
  offer: Offer,
  needs: Pick<ClusterRequirements, "machines" | "sizeChecks">,
): Finding[] {
  return [
    ...checkEachMachine(changes, (machine) => findImageProblems(machine, offer)),
    ...checkEachMachine(changes, (machine) => [
      ...findFlavorProblems(machine, offer),
      ...findSizeProblems(machine, offer),
      ...findRefusedControlPlane(machine, offer, needs),
    ]),
    ...warnOfSmallNodes(needs.machines, offer, needs),
  ];
}

/**
 * Reports server groups that would have more servers than Nova allows.
 *
 * @param limit largest number of servers in a server group. -1: unlimited
 */
export function checkGroupSizes(
  { missing }: MachineChanges,
  machines: readonly MachineRequirement[],
  limit = -1,
): Finding[] {
  const growing = missing.filter(({ grouped }) => grouped).map(({ paths: { group } }) => group);
  return [...new Set(limit < 0 ? [] : growing)].flatMap((group) => {
    const size = machines.filter(({ paths }) => paths.group === group).length;
    const instead = group.startsWith("workers.")
      ? "write another pool for the other machines"
      : `write ${group}.spread: none`;
    return size <= limit
      ? []
      : [
          createProblem(
            `${group}.count: all ${size} machines are in one server group, but the quota allows ${limit} servers in a group (server_group_members); ${instead}, or ask the cloud's operator for a larger quota`,
          ),
        ];
  });
}
