import type { Command } from "commander";
import { UserError } from "../../base/user-error.js";
import { table } from "../render/table.js";
import { runCommand } from "./session.js";

// The lab is loaded late: the other commands start faster without it.
const load = () => import("../../lab/lab.js");

export function registerLab(program: Command): void {
  const lab = program.command("lab").description("a whole OpenStack on this machine");
  lab
    .command("up")
    .description("start it; does nothing when it runs")
    .option("--kubernetes <version>", "Kubernetes version that its repositories offer")
    .action(async (_options, command: Command) => {
      const { kubernetes } = command.optsWithGlobals<{ kubernetes?: string }>();
      await runCommand(command, async (session) => {
        const { labUp } = await load();
        const { progress, signal } = session;
        const facts = await labUp({ kubernetes, progress, signal });
        session.print(
          `The lab runs. Use it with:\n  export OS_CLIENT_CONFIG_FILE=${facts.cloudsFile} OS_CLOUD=${facts.cloud}`,
        );
        session.emit({ type: "result", ok: true, ...facts });
        return 0;
      });
    });
  lab
    .command("status")
    .description("say how it is; exit code 1 when it is not up")
    .action(async (_options, command: Command) => {
      await runCommand(command, async (session) => {
        const { labStatus } = await load();
        const status = await labStatus();
        session.print(
          table(
            ["LAB", status.state],
            Object.entries(status.versions ?? {}).concat(
              status.problems.map((problem) => ["problem", problem]),
              status.startedAt === undefined ? [] : [["started", status.startedAt]],
              status.memory === undefined ? [] : [["memory", `${status.memory} MiB`]],
              status.current === false
                ? [["files", "newer than this lab; down and up take them"]]
                : [],
            ),
          ),
        );
        session.emit({ type: "result", ok: status.state === "up", ...status });
        return status.state === "up" ? 0 : 1;
      });
    });
  registerAdd(lab);
  lab
    .command("down")
    .description("destroy it with everything in it; caches stay")
    .action(async (_options, command: Command) => {
      await runCommand(command, async (session) => {
        const { labDown } = await load();
        await labDown({ progress: session.progress });
        session.print("The lab is gone: no process, mount, network or container of it is left.");
        session.emit({ type: "result", ok: true });
        return 0;
      });
    });
}

function registerAdd(lab: Command): void {
  lab
    .command("add <what>")
    .description(
      "build what few clusters need, for its registry: calico (Canal too), metrics-server, snapshots, traefik",
    )
    .action(async (what: string, _options, command: Command) => {
      await runCommand(command, async (session) => {
        const { labAdd, extraNames } = await load();
        const name = extraNames.find((one) => one === what);
        if (name === undefined)
          throw new UserError(`The lab has no ${what} to add.`, `Add ${extraNames.join(", ")}.`, 2);
        const { progress, signal } = session;
        const manifests = await labAdd(name, { progress, signal });
        const rows = Object.entries(manifests).map(
          ([kind, manifest]) => `  podNetwork: ${JSON.stringify({ kind, manifest })}`,
        );
        session.print(`The lab's registry has ${name}.`);
        if (rows.length > 0)
          session.print(`Write in the stack's settings one of:\n${rows.join("\n")}`);
        session.emit({ type: "result", ok: true, manifests });
        return 0;
      });
    });
}
