import { Failure } from "../../../base/failures/failure.js";
import { createErrorEvent, type CommandSession } from "../../../base/terminal/session.js";
import { formatTable } from "../../../base/terminal/table.js";
import { extraNames, labAdd, labDown, labStatus, labUp } from "../lab.js";

/** Functions of the lab that the commands call. Tests replace these functions. */
export interface LabFunctions {
  readonly labUp: typeof labUp;
  readonly labStatus: typeof labStatus;
  readonly labAdd: typeof labAdd;
  readonly labDown: typeof labDown;
}

export const labFunctions: LabFunctions = { labUp, labStatus, labAdd, labDown };

export async function runUpCommand(
  { labUp }: LabFunctions,
  session: CommandSession,
  { kubernetes }: { readonly kubernetes?: string },
): Promise<number> {
  const { progress, signal } = session;
  const facts = await labUp({ kubernetes, progress, signal });
  session.print(
    `The lab runs. Use it with:\n  export OS_CLIENT_CONFIG_FILE=${facts.cloudsFile} OS_CLOUD=${facts.cloud}`,
  );
  session.emit({ type: "result", ok: true, ...facts });
  return 0;
}

export async function runStatusCommand(
  { labStatus }: LabFunctions,
  session: CommandSession,
): Promise<number> {
  const found = await labStatus();
  session.print(
    formatTable(
      ["LAB", found.state],
      Object.entries(found.versions ?? {}).concat(
        found.problems.map((problem) => ["problem", problem]),
        found.startedAt === undefined ? [] : [["started", found.startedAt]],
        found.memory === undefined ? [] : [["memory", `${found.memory} MiB`]],
        found.current === false
          ? [["files", "newer than this lab; run lab down and lab up to use them"]]
          : [],
      ),
    ),
  );
  const ok = found.state === "up";
  session.emit({ type: "result", ok, ...found });
  if (ok) return 0;
  const failure = new Failure(
    "FAILED",
    `The lab is ${found.state}.`,
    "`npx stackadm-lab up` starts it.",
  );
  session.emit(createErrorEvent(failure));
  return failure.exitCode;
}

export async function runAddCommand(
  { labAdd }: LabFunctions,
  session: CommandSession,
  what: string,
): Promise<number> {
  const name = extraNames.find((one) => one === what);
  if (name === undefined)
    throw new Failure(
      "INVALID_USAGE",
      `The lab has no ${what} to add.`,
      `Add ${extraNames.join(", ")}.`,
    );
  const { progress, signal } = session;
  const manifests = await labAdd(name, { progress, signal });
  const rows = Object.entries(manifests).map(
    ([kind, manifest]) => `  podNetwork: ${JSON.stringify({ kind, manifest })}`,
  );
  session.print(`The lab has ${name}.`);
  if (rows.length > 0) session.print(`Write in the stack's settings one of:\n${rows.join("\n")}`);
  session.emit({ type: "result", ok: true, manifests });
  return 0;
}

export async function runDownCommand(
  { labDown }: LabFunctions,
  session: CommandSession,
): Promise<number> {
  await labDown({ progress: session.progress });
  session.print("The lab is gone: no process, mount, network or container of it is left.");
  session.emit({ type: "result", ok: true });
  return 0;
}
