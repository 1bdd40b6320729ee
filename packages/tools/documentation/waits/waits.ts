import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { programWaits, type ProgramWait } from "./program-waits.js";
import { limitArguments, scriptEnds, type ScriptEnd } from "./script-waits.js";
import { findEnd, findShellWaits, type ScriptSource, type ShellWait } from "./shell-waits.js";

/*
 * All waits of the product with their time limits. The limits are read from the code, so the page
 * cannot differ from the code.
 */

const root = getPackageRoot();

export const readSource = (path: string): string => readFileSync(join(root, path), "utf8");

/** Returns the scripts that run on machines. */
export const readScripts = (): readonly ScriptSource[] =>
  ["automation", "components"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".sh"))
      .sort()
      .map((path) => ({ path: join(folder, path), text: readSource(join(folder, path)) })),
  );

/**
 * Returns the number with this name in a source: `name = 5 * 60_000`, `name: 5_000`. Throws if there
 * is none.
 */
export function readNumber(text: string, name: string): number {
  const product = String.raw`(\d[\d_]*(?: \* (?:minute|\d[\d_]*))*)(?![\w.])`;
  const [, found] = new RegExp(String.raw`\b${name}\s*[:=]\s*${product}`).exec(text) ?? [];
  if (found === undefined) throw new RangeError(`there is no number "${name}"`);
  return found
    .replace("minute", "60_000")
    .split(" * ")
    .reduce((result, factor) => result * Number(factor.replaceAll("_", "")), 1);
}

/** Returns a time for readers. */
export const formatSeconds = (seconds: number): string =>
  seconds % 3600 === 0
    ? `${seconds / 3600} h`
    : seconds % 60 === 0
      ? `${seconds / 60} min`
      : `${seconds} s`;

/** Names of numbers that are no milliseconds. */
const plainNumbers = /Factor$|Tries$|^tries$|Seconds$|^(?:server|volume|loadBalancer)$/;

/** Returns the limit of a wait, with the numbers from the code. */
export const formatLimit = ({ limit, file }: ProgramWait): string =>
  limit.replaceAll(/\{(\w+)(?:@([\w./-]+))?\}/g, (_, name: string, other: string | undefined) => {
    const value = readNumber(readSource(other ?? file), name);
    const isPlain = plainNumbers.test(name) && !name.endsWith("Milliseconds");
    return isPlain ? String(value) : formatSeconds(value / 1000);
  });

/** Returns the entry for a wait whose statement does not show what happens at the end. */
export const findScriptEnd = (wait: ShellWait): ScriptEnd | undefined =>
  scriptEnds.find(
    ({ file, command }) =>
      file === basename(wait.path) &&
      (wait.waiter === "loop"
        ? command === String(wait.limit)
        : command === ""
          ? wait.command === ""
          : wait.command.startsWith(command)),
  );

/** Returns the awaited command, unit or lock as text for readers. */
function describeAwaited({ waiter, command }: ShellWait): string {
  if (waiter === "flock") return "the lock of another step";
  return waiter === "wait_unit" ? `the unit \`stackadm-${command}\`` : `\`${command}\``;
}

/** Returns the limits of a wait in seconds: one limit, or the limits of all callers. */
export function readLimits(wait: ShellWait, scripts: readonly ScriptSource[]): readonly number[] {
  if (typeof wait.limit === "number") return [wait.limit];
  const name = wait.limit.replace("$", "");
  const { call } = limitArguments.find(({ file }) => file === basename(wait.path)) ?? {};
  const pattern = call ?? new RegExp(String.raw`\breadonly (?:.* )?${name}=(\d+)`, "g");
  const found = scripts.flatMap(({ text }) =>
    [...text.matchAll(pattern)].map(([, seconds]) => Number(seconds)),
  );
  if (found.length === 0) throw new RangeError(`${wait.path}: the limit ${wait.limit} is unknown`);
  return found;
}

/** Row of a table: what is awaited, where, for how long, and what happens at the end. */
export interface WaitRow {
  readonly waitsFor: string;
  readonly path: string;
  readonly limit: string;
  readonly end: string;
}

/** Returns the shortest and the longest time. */
function formatRange(limits: readonly number[], isScaled: boolean): string {
  const [least, most] = [Math.min(...limits), Math.max(...limits)];
  const range = least === most ? `${least} s` : `${least} to ${most} s`;
  return isScaled ? range : `${range}, fixed`;
}

/** Returns a row for each wait for a condition in the scripts. */
export function listScriptWaits(scripts: readonly ScriptSource[]): readonly WaitRow[] {
  const waits = scripts.flatMap(findShellWaits).filter(({ waiter }) => waiter !== "timeout");
  return waits.map((wait) => {
    const known = findScriptEnd(wait);
    const shown = findEnd(wait);
    const end = shown === undefined || shown === "continues" ? (known?.end ?? shown) : shown;
    if (end === undefined)
      throw new RangeError(`${wait.path}: what happens at the end of ${wait.command}?`);
    return {
      waitsFor: known?.name ?? describeAwaited(wait),
      path: wait.path,
      limit: formatRange(readLimits(wait, scripts), wait.isScaled),
      end,
    };
  });
}

/** Returns a row for each program that the scripts run with `timeout`. */
export function listLimitedPrograms(scripts: readonly ScriptSource[]): readonly WaitRow[] {
  const waits = scripts.flatMap(findShellWaits).filter(({ waiter }) => waiter === "timeout");
  const programs = [...new Set(waits.map(({ command }) => command.split(" ")[0] ?? ""))].sort();
  return programs.map((program) => {
    const of = waits.filter(({ command }) => command.split(" ")[0] === program);
    return {
      waitsFor: `\`${program}\``,
      path: [...new Set(of.map(({ path }) => basename(path)))]
        .map((one) => `\`${one}\``)
        .join(", "),
      limit: formatRange(
        of.flatMap((wait) => readLimits(wait, scripts)),
        of.some(({ isScaled }) => isScaled),
      ),
      end: "the program ends, and its caller repeats it or fails",
    };
  });
}

/** Step of a role on a machine, and its longest time in seconds. */
export interface StepLimit {
  readonly step: string;
  readonly path: string;
  readonly seconds: number;
}

/** Returns the longest time of each step. */
export function listStepLimits(scripts: readonly ScriptSource[]): readonly StepLimit[] {
  const common = scripts.find(({ path }) => path.endsWith("/common.sh"))?.text ?? "";
  const [, byDefault = ""] = /step_limit=\$\(\(\$\{4:-(\d+)\} \* factor\)\)/.exec(common) ?? [];
  return scripts.flatMap(({ path, text }) =>
    [...text.matchAll(/^run_step (\S+) \S+(?: \S+)?(?: (\d+))?$/gm)].map(([, step, seconds]) => ({
      step: (step ?? "").replaceAll('"', ""),
      path,
      seconds: Number(seconds ?? byDefault),
    })),
  );
}

/** Returns a row for each wait in TypeScript. Equal waits in several files are one row. */
export function listProgramWaits(): readonly WaitRow[] {
  const rows = new Map<string, WaitRow>();
  for (const wait of programWaits) {
    const known = rows.get(wait.waitsFor);
    const link = `[${basename(wait.file)}](../../${wait.file})`;
    rows.set(wait.waitsFor, {
      waitsFor: wait.waitsFor,
      path: known ? `${known.path}, ${link}` : link,
      limit: formatLimit(wait),
      end: wait.end,
    });
  }
  return [...rows.values()];
}
