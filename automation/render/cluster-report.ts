import { describeFirstExpiringCertificate } from "../health/certificate-expiry.js";
import { phaseFacts, type Phase } from "../pulumi/phases.js";
import type { PhaseTime } from "../timeline/phase-times.js";
import type { Check } from "../verify/check.js";
import type { Verification } from "../verify/verify-cluster.js";
import { formatDuration } from "../../base/terminal/progress-screen.js";
import { formatTable } from "../../base/terminal/table.js";

/** Phase with its duration, for the table of times. */
export interface TimedPhase {
  readonly title: string;
  readonly milliseconds: number;
  readonly resources?: number;
}

export const convertPhaseTimes = (times: readonly PhaseTime[]): TimedPhase[] =>
  times.map(({ phase, startedAt, endedAt, resources }) => ({
    title: phaseFacts[phase satisfies Phase].title,
    milliseconds: endedAt - startedAt,
    resources,
  }));

const dash = (text: string): string => (text === "" ? "-" : text);

/**
 * Returns the table of nodes. If nodes report certificates, a line below the table names the
 * certificate that expires first.
 */
export function renderNodesTable({ nodes }: Pick<Verification, "nodes">): string {
  const first = describeFirstExpiringCertificate(nodes);
  const lines = formatTable(
    ["NODE", "ROLE", "VERSION", "ADDRESS", "EXTERNAL", "ZONE", "READY"],
    nodes.map((node) => [
      node.name,
      node.role,
      node.version,
      dash(node.internalAddress),
      dash(node.externalAddress),
      dash(node.zone),
      node.ready ? "yes" : `no: ${node.reason}`,
    ]),
  );
  return first === undefined ? lines : `${lines}\n${first}`;
}

const rowsOf = (checks: readonly Check[]): string[][] =>
  checks.map(({ name, where, ok, answer }) => [name, where, ok ? answer : `FAILED: ${answer}`]);

/** Returns the table of checks of etcd members and of the bastion. */
export const renderMachineChecksTable = ({ machines }: Pick<Verification, "machines">): string =>
  formatTable(["ASKED", "MACHINE", "ANSWER"], rowsOf(machines));

export const renderSampleChecksTable = ({
  services,
  claims,
}: Pick<Verification, "services" | "claims">): string =>
  formatTable(["SAMPLE", "WHERE", "ANSWER"], rowsOf([...services, ...claims]));

/** Returns the table of add-ons without all their pods, or a line with the number of add-ons. */
export function renderAddonChecks({ addons }: Pick<Verification, "addons">): string {
  const failed = addons.filter(({ ok }) => !ok);
  return failed.length > 0
    ? formatTable(["ADD-ON", "WHERE", "ANSWER"], rowsOf(failed))
    : `All pods of ${String(addons.length)} add-ons are available.`;
}

/** Returns the results of a verification: nodes, machines, add-ons and samples. */
export const renderVerificationTables = (seen: Verification): string[] => [
  renderNodesTable(seen),
  ...(seen.machines.length > 0 ? [renderMachineChecksTable(seen)] : []),
  ...(seen.addons.length > 0 ? [renderAddonChecks(seen)] : []),
  ...(seen.services.length + seen.claims.length > 0 ? [renderSampleChecksTable(seen)] : []),
];

export function renderPhaseTimesTable(phases: readonly TimedPhase[], total: number): string {
  const rows = phases.map(({ title, milliseconds, resources }) => [
    title,
    formatDuration(milliseconds),
    resources === undefined ? "" : String(resources),
  ]);
  return formatTable(
    ["PHASE", "TOOK", "RESOURCES"],
    [...rows, ["In all", formatDuration(total), ""]],
  );
}

/**
 * Returns three commands that the user may run next. Also returns advice about kubectl if there is
 * a problem.
 */
export function renderNextCommands(
  stack: string,
  kubeconfig: string,
  { onLab, advice }: { readonly onLab: boolean; readonly advice?: string },
): string {
  const other = stack === "dev" ? "" : ` --stack ${stack}`;
  const commands = [
    [`KUBECONFIG=${kubeconfig} kubectl get pods -A`, "list the pods"],
    [`stackadm destroy${other}`, "destroy the cluster"],
    onLab
      ? ["npx stackadm-lab down", "destroy the lab with everything in it"]
      : [`stackadm status${other}`, "check the cluster"],
  ];
  const next = formatTable(["NEXT", ""], commands);
  return advice === undefined ? next : `${next}\n! ${advice}`;
}
