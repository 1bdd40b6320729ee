import { basename } from "node:path";
import { generatedPage, table } from "../markdown.js";
import {
  formatSeconds,
  listLimitedPrograms,
  listProgramWaits,
  listScriptWaits,
  listStepLimits,
  readScripts,
  type WaitRow,
} from "./waits.js";

const header = ["Waits for", "Where", "At most", "At the end"];

/** Longest text of a command in a cell. */
const longest = 60;

/** Returns the text of a cell. A bar would end the cell. */
function cell(text: string): string {
  const command = /^`([^`]*)`$/.exec(text)?.[1];
  const short =
    command !== undefined && command.length > longest
      ? `\`${command.slice(0, longest - 4).trimEnd()} ...\``
      : text;
  return short.replaceAll("|", "\\|").replaceAll("<", "\\<");
}

const rowOf = ({ waitsFor, path, limit, end }: WaitRow): readonly string[] =>
  [waitsFor, path, limit, end].map(cell);

const scriptLink = (path: string): string => `[${basename(path)}](../../${path})`;

/** Returns the text of docs/reference/waits.md. */
export function waitsPage(): string {
  const scripts = readScripts();
  return [
    ...generatedPage("Waits", "packages/tools/documentation/waits/"),
    "Every wait in stackadm's code, its time limit, and what happens at the end. The limits are read from the code. A unit test fails if a wait has no row.",
    "",
    "Two waits have no limit of stackadm: the answer of a user, and the engine's requests to its backend. Ctrl-C stops the command, and a second Ctrl-C ends the engine.",
    "",
    "## On the operator's computer and in the cloud",
    "",
    ...table(header, listProgramWaits().map(rowOf)),
    "",
    "The plugins have their own limits for objects that are not in this table, such as networks.",
    "",
    "## Steps on machines",
    "",
    "A script runs as a step. The time begins when the step has the lock of the machine. At the end, all its processes are ended, and the failure names the program that hung ([0068](../decisions/0068-steps-have-a-longest-time.md)). All times are multiplied by `timeoutFactor`, or by the measured factor of a slow machine.",
    "",
    ...table(
      ["Step", "Script", "At most"],
      listStepLimits(scripts).map(({ step, path, seconds }) => [
        `\`${step}\``,
        scriptLink(path),
        formatSeconds(seconds),
      ]),
    ),
    "",
    "## Conditions in scripts",
    "",
    "The times are multiplied by `timeoutFactor`, except fixed ones. `$NAME` is a value of the script.",
    "",
    ...table(
      header,
      listScriptWaits(scripts).map((row) => rowOf({ ...row, path: scriptLink(row.path) })),
    ),
    "",
    "## Programs in scripts",
    "",
    "Each call of these programs has a time limit. The times are multiplied by `timeoutFactor`, except fixed ones. The limit of the step applies to all other programs.",
    "",
    ...table(header, listLimitedPrograms(scripts).map(rowOf)),
    "",
  ].join("\n");
}
