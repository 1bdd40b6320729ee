import { createWarning, type Finding } from "../../../openstack/checks/finding.js";
import type { QuotaRequirement } from "../../../openstack/checks/quotas.js";
import type { ClusterSpec } from "../../../components/config/cluster-spec.js";
import { Failure } from "../../../base/failures/failure.js";
import { withStep } from "../../../base/progress.js";
import { removeUrlPassword } from "../../../base/url-passwords.js";
import { formatTable } from "../../../base/terminal/table.js";
import { checkKubectl, type KubectlCheckResult } from "../../setup/kubectl.js";
import { withStack, type StackContext, type StackOptions } from "../stack-context.js";
import { createErrorEvent, type CommandSession } from "../../../base/terminal/session.js";

/** Facts about this machine and the stack, for the table. */
interface Facts {
  /** Directory of the Pulumi project. */
  readonly project: string;
  /** Name of the cloud in clouds.yaml. Without clouds.yaml: URL of Keystone. */
  readonly cloud: string;
  readonly backend: string;
  readonly loginKey: "agent" | "own";
  readonly kubectl: KubectlCheckResult;
  /**
   * Holders of the stack's lock. Empty if the backend is not a directory, because only a
   * directory's locks can be read without taking the lock.
   */
  readonly locks: readonly string[];
}

async function factsOf(
  { environment, service, stack, project }: StackContext,
  spec: Pick<ClusterSpec, "kubernetes"> | undefined,
): Promise<Facts> {
  const { env, backend, agent } = environment;
  return {
    project: project.directory,
    cloud: env["OS_CLOUD"] ?? env["OS_AUTH_URL"] ?? "",
    backend: removeUrlPassword(backend),
    loginKey: agent?.foreign === true ? "agent" : "own",
    kubectl: spec ? await checkKubectl(spec.kubernetes.version) : {},
    // In a backend that is not a directory, the engine would have to take the lock to find the
    // holders. Another user's `up` would fail meanwhile.
    locks: backend.startsWith("file:") ? await service.locks(stack) : [],
  };
}

const keys = { agent: "of the running ssh-agent", own: "our own" } as const;

const factsTable = (
  { project, cloud, backend, loginKey, kubectl, locks }: Facts,
  { environment }: StackContext,
): string =>
  formatTable(
    ["WHAT", ""],
    [
      ["project", project],
      ["cloud", cloud],
      ["backend", backend],
      ["login key", keys[loginKey]],
      ...environment.toolchain.pieces.map(({ name, version, origin }) => [
        name,
        `${version} (${origin})`,
      ]),
      ...[kubectl.advice ?? kubectl.version ?? []].flat().map((said) => ["kubectl", said]),
      ...locks.map((lock) => ["lock", lock]),
    ],
  );

const quotasTable = (quotas: readonly QuotaRequirement[]): string =>
  formatTable(
    ["QUOTA", "LIMIT", "USED", "STILL NEEDED"],
    quotas.map(({ name, limit, used, needed }) => [
      name,
      limit < 0 ? "none" : String(limit),
      String(used),
      String(needed),
    ]),
  );

const findingsTable = (findings: readonly Finding[]): string =>
  findings.length === 0
    ? "The cluster fits into this cloud."
    : formatTable(
        ["", "FOUND"],
        findings.map(({ severity, text }) => [severity, text]),
      );

/**
 * Returns the warning that the cluster is not checked in the cloud. The requirements of a cluster
 * that a custom program defines are unknown before the program runs.
 */
const uncheckedWarning = ({ project, stack }: StackContext): Finding =>
  createWarning(
    `cluster: not checked in the cloud, because the program of ${project.directory} defines it, not Pulumi.${stack}.yaml`,
  );

export function runDoctorCommand(session: CommandSession, options: StackOptions): Promise<number> {
  return withStack(session, options, async (context) => {
    const { environment, service, stack } = context;
    const spec = context.described ? await service.spec(stack) : undefined;
    let quotas: readonly QuotaRequirement[] = [];
    const onQuotas = (read: readonly QuotaRequirement[]): void => {
      quotas = read;
    };
    const ask = () => service.preflight(stack, { onQuotas, signal: session.signal });
    const findings = spec
      ? await withStep(session.progress, "Check the cloud", 3, ask)
      : [uncheckedWarning(context)];
    const facts = await factsOf(context, spec);
    session.print(factsTable(facts, context));
    if (quotas.length > 0) session.print(`\n${quotasTable(quotas)}`);
    session.print(`\n${findingsTable(findings)}`);
    const problems = findings.filter(({ severity }) => severity === "problem");
    const ok = problems.length === 0;
    const { pieces: tools } = environment.toolchain;
    session.emit({ type: "result", ok, stack, ...facts, tools, quotas, findings });
    if (ok) return 0;
    // The table has already shown the problems, so only the JSON output gets the error.
    const lines = problems.map(({ text }) => `  ${text}`).join("\n");
    const unfit = `The cluster does not fit into this cloud:\n${lines}`;
    const failure = new Failure("PREFLIGHT_FAILED", unfit);
    session.emit(createErrorEvent(failure));
    return failure.exitCode;
  });
}
