import type { Command } from "commander";
import { label } from "../../components/spec/values.js";
import { connectCloud, type CloudClient } from "../../cloud/client.js";
import type { CloudObject, Kind } from "../../cloud/inventory.js";
import { hasData, isIdentity } from "../../cloud/ownership.js";
import { deleteOrphans, findMarked, irreplaceable, type Orphan } from "../../cloud/orphans.js";
import { listed, strangersBefore } from "../../cloud/strangers.js";
import { clusterLines, mayLive, orphansCommand } from "../cluster/orphans.js";
import { withStep } from "../../base/progress.js";
import { hiddenLines, keptLines, markedTable } from "../render/marked.js";
import { cloudEnvironment } from "../setup/environment.js";
import { UserError } from "../../base/user-error.js";
import { requireAnswer, typed } from "./agree.js";
import { runCommand, type Session } from "./session.js";

interface Options {
  readonly stack: string;
  readonly cluster?: string;
  readonly identity?: string;
  readonly delete: boolean;
  readonly volumes: boolean;
  readonly floatingIps: boolean;
  readonly yes: boolean;
}

/** Names are anybody's: only an identity says which cluster is meant. */
function whichCluster(found: readonly Orphan[]): UserError {
  const identity = found.find(({ mark }) => mark.identity !== "")?.mark.identity;
  return new UserError(
    `Write which cluster is to be deleted, by its identity:\n${clusterLines(found)}`,
    identity === undefined
      ? "Objects without an identity were made by an earlier release: delete them by hand."
      : `\`${orphansCommand(identity)}\`, when no state holds it any more; else \`npx stackadm destroy\`.`,
    2,
  );
}

/** An empty variable in a script must not mean everything that has no identity. */
function checkIdentity(identity: string | undefined): void {
  if (identity === undefined || isIdentity(identity)) return;
  throw new UserError(
    `--identity: '${identity}' is not an identity; write 12 hexadecimal digits.`,
    "`npx stackadm orphans --cluster <name>` lists those of the clusters of a name.",
    2,
  );
}

function checkOptions({ cluster, volumes, floatingIps, delete: deleting }: Options): void {
  const named = label("the name of a cluster").safeParse(cluster ?? "cluster");
  if (!named.success)
    throw new UserError(
      `--cluster: ${named.error.issues.map(({ message }) => message).join("; ")}.`,
      "`cluster.name` in its settings says it.",
      2,
    );
  if ((volumes || floatingIps) && !deleting)
    throw new UserError(
      `${volumes ? "--volumes" : "--floating-ips"} says what --delete may take, and --delete is not there.`,
      "Add --delete, or leave it out to see the list.",
      2,
    );
}

/** Minutes of waiting would end in the same way, and with less. */
function requireWay(going: readonly Orphan[], objects: readonly CloudObject[]): void {
  const strange = strangersBefore(going, objects);
  if (strange.length === 0) return;
  throw new UserError(
    `The network cannot go before what somebody else put into it: ${listed(strange)}. Nothing was deleted.`,
    "Delete that, or what has it, then run the same command again.",
  );
}

/** A command with an identity is easily pasted: of what may be a living cluster a person types the name. */
async function agreeTo(session: Session, found: readonly Orphan[], yes: boolean): Promise<void> {
  if (!mayLive(found)) return;
  session.progress.note(`This may be a living cluster:\n${clusterLines(found)}`);
  requireAnswer(session, "orphans --delete", yes);
  if (yes) return;
  const words = [...new Set(found.map(({ mark }) => mark.name))];
  await typed(session, {
    question: "Its servers go with everything on them. Type the cluster's name to delete it: ",
    ...{ words, what: "the cluster's name", purpose: "it is to be deleted" },
  });
}

async function deleteAll(cloud: CloudClient, going: readonly Orphan[], session: Session) {
  if (going.length === 0) return;
  await withStep(session.progress, `Delete ${going.length} objects`, 60, (step) =>
    deleteOrphans(cloud, going, {
      signal: session.signal,
      onDelete: ({ kind, name }) => {
        step.update(`${kind} '${name}'`);
      },
    }),
  );
}

const foundLines = (who: string, found: readonly Orphan[], hidden: readonly Kind[]): string =>
  [
    found.length === 0 ? `Nothing in the project carries the marks of ${who}.` : markedTable(found),
    ...hiddenLines(hidden),
  ].join("\n");

async function orphans(session: Session, options: Options): Promise<number> {
  const { identity, cluster = options.stack } = options;
  checkIdentity(identity);
  checkOptions(options);
  const env = { ...process.env, ...cloudEnvironment(process.env) };
  const onWait = (text: string): void => {
    session.progress.note(text);
  };
  const cloud = await connectCloud({ env, patience: { onWait } });
  const { found: all, objects, hidden } = await findMarked(cloud);
  const found = all.filter(({ mark }) =>
    identity === undefined ? mark.name === cluster : mark.identity === identity,
  );
  const who = identity === undefined ? `cluster '${cluster}'` : `identity ${identity}`;
  session.print(foundLines(who, found, hidden));
  if (options.delete && identity === undefined && found.length > 0) throw whichCluster(found);
  const stays = (one: Orphan): boolean =>
    hasData(one) ? !options.volumes : irreplaceable(one) && !options.floatingIps;
  const kept = options.delete ? found.filter(stays) : [];
  if (options.delete) {
    const going = found.filter((orphan) => !kept.includes(orphan));
    requireWay(going, objects);
    await agreeTo(session, found, options.yes);
    await deleteAll(cloud, going, session);
  } else if (identity !== undefined && found.length > 0)
    session.print(
      `\nIf no state holds it any more, \`${orphansCommand(identity)}\` deletes it; else \`npx stackadm destroy\`.`,
    );
  if (kept.length > 0) session.print(`\n${keptLines(kept)}`);
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

export function registerOrphans(program: Command): void {
  program
    .command("orphans")
    .description("list what carries a cluster's marks in the project: for clusters that are dead")
    .option("--cluster <name>", "the cluster's name (default: the stack's name)")
    .option("--identity <id>", "the cluster's identity, which alone says whose an object is")
    .option("--delete", "delete what has --identity; a living cluster does not survive that", false)
    .option(
      "--volumes",
      "with --delete: also its machines' volumes, those of its claims, copies and snapshots of them, with their data",
      false,
    )
    .option("--floating-ips", "with --delete: also the addresses of its Services", false)
    .option(
      "--yes",
      "with --delete: do not ask about a cluster that may live; needed then without a terminal and with --json",
      false,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      await runCommand(command, (session) => orphans(session, options));
    });
}
