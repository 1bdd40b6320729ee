import { kinds, type CloudObject } from "../../cloud/inventory.js";
import type { ClaimedVolume, DestroyPlan } from "../cluster/options.js";
import { table } from "./table.js";

/** How many names a row shows. */
const most = 3;

const named = ({ name, id }: Pick<CloudObject, "name" | "id">): string => (name === "" ? id : name);

const listed = (names: readonly string[]): string => {
  const more = names.length - most;
  const shown = names.slice(0, most).join(", ");
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
};

/** What goes, by its kind, in the order in which it is deleted. */
const byKind = ({ goes }: DestroyPlan): [kind: string, names: string[]][] =>
  kinds.flatMap((kind): [string, string[]][] => {
    const names = goes.filter((one) => one.kind === kind).map(named);
    return names.length > 0 ? [[kind, names]] : [];
  });

const fates: Readonly<Record<ClaimedVolume["fate"], string>> = {
  goes: "goes, with its data",
  stays: "stays",
  unknown: "not known",
};

const unknown = (problem: string): string =>
  `The cluster's API does not say which volumes stay (reclaim policy Retain): ${problem.replace(/\.?$/, ".")}`;

const whose = ({ clusters, identities, backend }: DestroyPlan): string => {
  const identity = identities.length > 0 ? `identity ${identities.join(", ")}` : "no identity";
  const names = clusters.map((name) => `'${name}'`).join(", ");
  return `cluster${clusters.length > 1 ? "s" : ""} ${names} (${identity}; state at ${backend})`;
};

/** What a destroy takes away and what it leaves, for whoever has to agree to it. */
export function planTables(plan: DestroyPlan): string {
  const { volumes, problem } = plan;
  const rows = byKind(plan).map(([kind, names]) => [kind, String(names.length), listed(names)]);
  const claimed = volumes.map((volume) => [
    volume.claim === "" ? "-" : volume.claim,
    `${String(volume.gigabytes)} GiB`,
    named(volume),
    fates[volume.fate],
  ]);
  return [
    `This takes away the ${whose(plan)}:`,
    rows.length > 0 ? table(["WHAT", "COUNT", "NAMES"], rows) : "Nothing of it is in the cloud.",
    ...(claimed.length > 0
      ? [table(["VOLUME OF A CLAIM", "SIZE", "NAME", "WHAT BECOMES OF IT"], claimed)]
      : []),
    ...(problem === undefined ? [] : [unknown(problem)]),
  ].join("\n\n");
}

const counted = (count: number, what: string): string =>
  `${String(count)} ${what}${count === 1 ? "" : "s"}`;

/** The same in a line, for whoever has agreed. */
export function planLine(plan: DestroyPlan): string {
  const { volumes, problem } = plan;
  const ofFate = (fate: ClaimedVolume["fate"], what: (volumes: string) => string): string[] => {
    const { length } = volumes.filter((volume) => volume.fate === fate);
    return length > 0 ? [what(`${counted(length, "volume")} with data`)] : [];
  };
  const things = [
    ...byKind(plan).map(([kind, { length }]) => counted(length, kind)),
    ...ofFate("goes", (some) => some),
  ];
  const what = [
    things.length > 0 ? things.join(", ") : "nothing of it is in the cloud",
    ...ofFate("stays", (some) => `kept: ${some}`),
    ...ofFate("unknown", (some) => `not known: ${some}`),
  ];
  const line = `Takes away the ${whose(plan)}: ${what.join("; ")}.`;
  return problem === undefined ? line : `${line} ${unknown(problem)}`;
}
