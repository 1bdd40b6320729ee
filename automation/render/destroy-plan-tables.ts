import { inventoryKinds, type CloudObject } from "../../openstack/inventory/inventory.js";
import type { ClaimedVolume, DestroyPlan, KeptObject } from "../engine/operation-options.js";
import { renderHiddenKindsLines } from "./orphan-tables.js";
import { formatTable } from "../../base/terminal/table.js";
import { describeClusterNames, describeIdentities, describeCloudPlace } from "./cluster-line.js";

/** Number of names that a row of the table shows. */
const most = 3;

const named = ({ name, id }: Pick<CloudObject, "name" | "id">): string => (name === "" ? id : name);

const listed = (names: readonly string[]): string => {
  const more = names.length - most;
  const shown = names.slice(0, most).join(", ");
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
};

/**
 * Returns the names of the objects to delete, grouped by kind. The kinds are in the order of
 * deletion.
 */
const byKind = ({ goes }: DestroyPlan): [kind: string, names: string[]][] =>
  inventoryKinds.flatMap((kind): [string, string[]][] => {
    const names = goes.filter((one) => one.kind === kind).map(named);
    return names.length > 0 ? [[kind, names]] : [];
  });

const fates: Readonly<Record<ClaimedVolume["fate"], string>> = {
  goes: "deleted with its data",
  stays: "kept",
  unknown: "not known",
};

const unknown = (problem: string): string =>
  `The cluster's API does not say which volumes, snapshots and floating IPs are kept: ${problem.replace(/\.?$/, ".")}`;

const whose = (plan: DestroyPlan): string =>
  `${describeClusterNames(plan)} (${describeIdentities(plan)}; ${describeCloudPlace(plan.place)}; state at ${plan.backend})`;

const dash = (text: string): string => (text === "" ? "-" : text);

/**
 * Returns tables of the volumes, snapshots and floating IPs that the cluster's controllers delete
 * or keep.
 */
function keepsTables({ volumes, snapshots, floatingIps }: DestroyPlan): string[] {
  const what = "FATE";
  const tables: [header: string[], rows: string[][]][] = [
    [
      ["VOLUME OF CLAIM", "SIZE", "NAME", what],
      volumes.map((volume) => [
        dash(volume.claim),
        `${String(volume.gigabytes)} GiB`,
        named(volume),
        fates[volume.fate],
      ]),
    ],
    [
      ["SNAPSHOT", "ID", "VOLUME", what],
      snapshots.map(({ snapshot, id, volume, fate }) => [
        ...[dash(snapshot), dash(id), dash(volume)],
        fates[fate],
      ]),
    ],
    [
      ["FLOATING IP OF SERVICE", "ADDRESS", what],
      floatingIps.map(({ service, address, fate }) => [
        ...[dash(service), address],
        fate === "goes" ? "deleted" : fates[fate],
      ]),
    ],
  ];
  return tables.flatMap(([header, rows]) => (rows.length > 0 ? [formatTable(header, rows)] : []));
}

const staysWords = ({ stays = [] }: DestroyPlan): string[] => {
  const list = (title: string, some: readonly KeptObject[]): string[] =>
    some.length === 0
      ? []
      : [`${title}: ${listed(some.map((one) => `${one.kind} ${named(one)}`))}.`];
  return [
    ...list(
      "Kept, because the program says so (retainOnDelete)",
      stays.filter(({ retained }) => retained === true),
    ),
    ...list(
      "Kept, because they have the cluster's mark and data but are not in the state, and may be copies",
      stays.filter(({ retained }) => retained !== true),
    ),
  ];
};

const othersWords = (plan: DestroyPlan): string[] => {
  const names = (plan.others ?? []).map(named);
  return names.length === 0
    ? []
    : [`Kept, because another user owns it: application credential ${listed(names)}.`];
};

/**
 * Returns the tables that the user sees before the confirmation: what a destroy deletes and keeps.
 */
export function renderDestroyPlanTables(plan: DestroyPlan): string {
  const { problem } = plan;
  const rows = byKind(plan).map(([kind, names]) => [kind, String(names.length), listed(names)]);
  return [
    `This destroys the ${whose(plan)}:`,
    rows.length > 0
      ? formatTable(["WHAT", "COUNT", "NAMES"], rows)
      : "No object of the cluster is in the cloud.",
    ...keepsTables(plan),
    ...staysWords(plan),
    ...othersWords(plan),
    ...renderHiddenKindsLines(plan.hidden),
    ...(problem === undefined ? [] : [unknown(problem)]),
  ].join("\n\n");
}

const counted = (count: number, what: string): string =>
  `${String(count)} ${what}${count === 1 ? "" : "s"}`;

/** Returns the numbers of volumes, snapshots and floating IPs with this fate, in words. */
function ofFate(plan: DestroyPlan, fate: ClaimedVolume["fate"]): string[] {
  const count = (of: readonly { readonly fate: string }[], one: string, many: string): string[] => {
    const { length } = of.filter((some) => some.fate === fate);
    return length > 0 ? [`${String(length)} ${length === 1 ? one : many}`] : [];
  };
  return [
    ...count(plan.volumes, "volume with data", "volumes with data"),
    ...count(plan.snapshots, "snapshot", "snapshots"),
    ...count(plan.floatingIps, "floating IP of a Service", "floating IPs of Services"),
  ];
}

/** Returns the plan as one line, for a destroy that needs no confirmation. */
export function renderDestroyPlanLine(plan: DestroyPlan): string {
  const { problem } = plan;
  const things = [
    ...byKind(plan).map(([kind, { length }]) => counted(length, kind)),
    ...ofFate(plan, "goes"),
  ];
  const { length: others } = plan.others ?? [];
  const otherObjects = (plan.stays ?? []).map((one) => `${one.kind} ${named(one)}`);
  const ofOthers =
    others > 0 ? [`${counted(others, "application credential")} of another user`] : [];
  const [stays, open] = [
    [...ofFate(plan, "stays"), ...otherObjects, ...ofOthers],
    ofFate(plan, "unknown"),
  ];
  const what = [
    things.length > 0 ? things.join(", ") : "no object of it is in the cloud",
    ...(stays.length > 0 ? [`kept: ${stays.join(", ")}`] : []),
    ...(open.length > 0 ? [`not known: ${open.join(", ")}`] : []),
  ];
  return [
    `Destroying the ${whose(plan)}: ${what.join("; ")}.`,
    ...renderHiddenKindsLines(plan.hidden),
    ...(problem === undefined ? [] : [unknown(problem)]),
  ].join(" ");
}
