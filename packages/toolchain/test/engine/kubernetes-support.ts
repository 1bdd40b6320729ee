import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * Returns the directory of the Pulumi CLI. If STACKADM_PULUMI contains the path of the CLI, returns
 * its directory. Otherwise searches STACKADM_TOOLCHAIN_BIN, and then PATH.
 */
export function pulumiDirectory(environment: NodeJS.ProcessEnv): string {
  const named = environment["STACKADM_PULUMI"];
  const places = named
    ? [dirname(named)]
    : [environment["STACKADM_TOOLCHAIN_BIN"], ...(environment["PATH"] ?? "").split(delimiter)];
  const found = places.find((place) => place && existsSync(join(place, "pulumi")));
  if (!found) {
    throw new Error("pulumi is missing: run `stackadm toolchain`, or set STACKADM_PULUMI.");
  }
  accessSync(join(found, "pulumi"), constants.X_OK);
  return found;
}

/** Returns all descendants of a process: its children, their children, and so on. */
export function descendants(pid: number): { pid: number; name: string }[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const ids = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return ids
    .map(Number)
    .flatMap((id) => [
      { pid: id, name: readFileSync(`/proc/${id}/comm`, "utf8").trim() },
      ...descendants(id),
    ]);
}

export function isAlive(pid: number): boolean {
  return (
    existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  );
}
