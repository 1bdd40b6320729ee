import { Failure } from "../../../base/failures/failure.js";
import { extraNames, labAdd, labDown, labStatus, labUp } from "../lab.js";
import { table } from "../../../base/terminal/table.js";
import { errorLine, type Session, type StackOptions } from "../../../base/terminal/session.js";

export async function labUpCommand(
  session: Session,
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

export async function labStatusCommand(session: Session): Promise<number> {
  const status = await labStatus();
  session.print(
    table(
      ["LAB", status.state],
      Object.entries(status.versions ?? {}).concat(
        status.problems.map((problem) => ["problem", problem]),
        status.startedAt === undefined ? [] : [["started", status.startedAt]],
        status.memory === undefined ? [] : [["memory", `${status.memory} MiB`]],
        status.current === false
          ? [["files", "newer than this lab; run lab down and lab up to use them"]]
          : [],
      ),
    ),
  );
  const ok = status.state === "up";
  session.emit({ type: "result", ok, ...status });
  if (ok) return 0;
  const failure = new Failure(
    "FAILED",
    `The lab is ${status.state}.`,
    "`npx stackadm lab up` starts it.",
  );
  session.emit(errorLine(failure));
  return failure.exitCode;
}

export async function labAddCommand(
  session: Session,
  _options: StackOptions,
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

export async function labDownCommand(session: Session): Promise<number> {
  await labDown({ progress: session.progress });
  session.print("The lab is gone: no process, mount, network or container of it is left.");
  session.emit({ type: "result", ok: true });
  return 0;
}
