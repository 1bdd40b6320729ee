import { dnsLabelField } from "../../../components/schema/fields.js";
import type { CloudObjectKind } from "../../../openstack/inventory/inventory.js";
import { isIdentity } from "../../../openstack/inventory/ownership.js";
import type { OwnedObject } from "../../../openstack/inventory/marked-objects.js";
import {
  createOrphanService,
  findKeptOrphans,
  requireNoBlockingPorts,
  type FoundOrphans,
  type OrphanCleaner,
} from "../../orphans/orphan-service.js";
import {
  renderClusterSummary,
  mayBeRunning,
  renderOrphansDeleteCommand,
  createAmbiguousClusterError,
} from "../../orphans/orphan-summary.js";
import { withStep } from "../../../base/progress.js";
import {
  renderHiddenKindsLines,
  renderKeptObjectLines,
  renderOrphansTable,
} from "../../render/orphan-tables.js";
import { Failure } from "../../../base/failures/failure.js";
import { requireConfirmable, requireTypedWords } from "../confirm.js";
import type { StackOptions } from "../stack-context.js";
import { readStackLogin } from "../stack-login.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly cluster?: string;
  readonly identity?: string;
  readonly delete: boolean;
  readonly volumes: boolean;
  readonly floatingIps: boolean;
  readonly retained: boolean;
  readonly yes: boolean;
}

/**
 * Throws if the value of `--identity` is not an identity. If the user passes an empty shell
 * variable, the command must not select all objects without an identity.
 */
function checkIdentity(identity: string | undefined): void {
  if (identity === undefined || isIdentity(identity)) return;
  throw new Failure(
    "INVALID_USAGE",
    `--identity: '${identity}' is not an identity; write 12 hexadecimal digits.`,
    "`stackadm orphans --cluster <name>` lists the identities of the clusters with this name.",
  );
}

function checkOptions(options: Options): void {
  const { cluster, volumes, floatingIps, retained, delete: deleting } = options;
  const named = dnsLabelField("the name of a cluster").safeParse(cluster ?? "cluster");
  if (!named.success)
    throw new Failure(
      "INVALID_USAGE",
      `--cluster: ${named.error.issues.map(({ message }) => message).join("; ")}.`,
      "The name is `cluster.name` in the cluster's settings.",
    );
  const [more] = [
    ...(volumes ? ["--volumes"] : []),
    ...(floatingIps ? ["--floating-ips"] : []),
    ...(retained ? ["--retained"] : []),
  ];
  if (more !== undefined && !deleting)
    throw new Failure(
      "INVALID_USAGE",
      `${more} needs --delete, which is missing.`,
      "Add --delete, or leave this option out to see the list.",
    );
}

/**
 * Asks the user to type the cluster's name if the cluster may be running. The option `--identity`
 * is no sufficient confirmation, because the user may have pasted the whole command.
 */
async function agreeTo(
  session: CommandSession,
  found: readonly OwnedObject[],
  yes: boolean,
): Promise<void> {
  if (!mayBeRunning(found)) return;
  session.progress.note(`This cluster may be running:\n${renderClusterSummary(found)}`);
  requireConfirmable(session, "orphans --delete", yes);
  if (yes) return;
  const words = [...new Set(found.map(({ mark }) => mark.name))];
  await requireTypedWords(session, {
    question:
      "Its objects are deleted, servers with all data on them. Type the cluster's name to delete it: ",
    words,
    what: "the cluster's name",
    purpose: "you want to delete it",
  });
}

const foundLines = (
  who: string,
  found: readonly OwnedObject[],
  hidden: readonly CloudObjectKind[],
): string =>
  [
    found.length === 0
      ? `No object in the project has the marks of ${who}.`
      : renderOrphansTable(found),
    ...renderHiddenKindsLines(hidden),
  ].join("\n");

/** Returns advice that counts the objects which `--delete` deletes without further options. */
function renderDeletionAdvice(identity: string, found: readonly OwnedObject[]): string {
  const count = found.length - findKeptOrphans(found, {}).length;
  const command = `\`${renderOrphansDeleteCommand(identity)}\``;
  return count === 0
    ? `${command} keeps all of these objects: a destroy has kept them, or they contain data.`
    : `If no state has this cluster any more, delete ${count} of ${found.length} objects with ${command}; otherwise run \`stackadm destroy\`.`;
}

/** Deletes the objects after a confirmation. Returns the objects that were kept. */
async function deleteAll(
  session: CommandSession,
  service: OrphanCleaner,
  there: FoundOrphans,
  options: Options,
): Promise<readonly OwnedObject[]> {
  const { found } = there;
  if (options.identity === undefined && found.length > 0) throw createAmbiguousClusterError(found);
  requireNoBlockingPorts(there);
  await agreeTo(session, found, options.yes);
  const { volumes, floatingIps, retained } = options;
  const kept = findKeptOrphans(found, { volumes, floatingIps, retained });
  const count = found.length - kept.length;
  if (count > 0)
    await withStep(session.progress, `Delete ${count} objects`, 60, (step) =>
      service.delete(there, {
        volumes,
        floatingIps,
        retained,
        signal: session.signal,
        onDelete: ({ kind, name }) => {
          step.update(`${kind} '${name}'`);
        },
      }),
    );
  return kept;
}

export async function runOrphansCommand(
  session: CommandSession,
  options: Options,
): Promise<number> {
  const { identity, cluster = options.stack } = options;
  checkIdentity(identity);
  checkOptions(options);
  const service = createOrphanService({
    env: await readStackLogin(session, options),
    onNote: (text) => {
      session.progress.note(text);
    },
  });
  const [of, who] =
    identity === undefined
      ? [{ cluster }, `cluster '${cluster}'`]
      : [{ identity }, `identity ${identity}`];
  const there = await service.find(of);
  const { found, hidden } = there;
  session.print(foundLines(who, found, hidden));
  const kept = options.delete ? await deleteAll(session, service, there, options) : [];
  if (!options.delete && identity !== undefined && found.length > 0)
    session.print(`\n${renderDeletionAdvice(identity, found)}`);
  if (kept.length > 0) session.print(`\n${renderKeptObjectLines(kept)}`);
  session.emit({
    type: "result",
    ok: true,
    found,
    deleted: options.delete,
    kept,
    ...(hidden.length > 0 && { hidden }),
  });
  return 0;
}
