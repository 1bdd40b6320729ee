import { createHash } from "node:crypto";
import { gzipSync, strToU8 } from "fflate";
import { assignments, quote } from "./shell-quoting.js";

/*
 * Scripts on machines. A machine has the texts of all steps of its role in one file, and each step
 * runs by one command that names its text by a digest. So a plan shows which step changed, and the
 * state has no text. A step that runs at a deletion sends its own text: the state runs it when the
 * machine may have the file of another release, or of no release.
 */

/** Scripts that run together in one shell of a machine. */
export interface Step {
  readonly name: string;
  /** First digits of the SHA-256 of the text. */
  readonly digest: string;
  readonly text: string;
  /** Whether its scripts get `create` or `update` as their argument. @default no */
  readonly tellsCreate: boolean;
}

export interface StepArgs {
  /** Texts of static shell scripts, which one shell runs one after another. */
  readonly scripts: readonly string[];
  /** Texts of programs that the scripts install, by the variable that contains each. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly tellsCreate?: boolean;
}

const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Beginning of the line before each text in the file of a role. */
const mark = "#=";

/**
 * Returns a step. Its digest is that of the text as a shell's `$(...)` returns it, and a newline.
 */
export function stepOf(
  name: string,
  { scripts, programs = {}, tellsCreate = false }: StepArgs,
): Step {
  const text = `${(assignments(programs) + scripts.join("\n")).replace(/\n+$/, "")}\n`;
  if (text.split("\n").some((line) => line.startsWith(mark)))
    throw new RangeError(`the step ${name} has a line that begins with ${mark}`);
  return { name, digest: digestOf(text), text, tellsCreate };
}

/** File with the texts of steps. */
export interface Bundle {
  readonly digest: string;
  readonly text: string;
}

/** Returns the file that machines of a role get. */
export function bundleOf(steps: readonly Step[]): Bundle {
  const text = steps.map((step) => `${mark}${step.digest}\n${step.text}`).join("");
  return { digest: digestOf(text), text };
}

/** Folder of the files, in the home directory of the login user. */
export const scriptsFolder = ".stackadm";

/** End of the name of the resource that copies a machine's scripts: the first contact with it. */
export const copyName = "scripts";

/** Returns the path of a file on the machine with this server. */
export const remotePathOf = ({ digest }: Bundle, server: string): string =>
  `${scriptsFolder}/${server}/${digest}.sh`;

/** Returns the ID of the server in such a path. */
export const serverOfPath = (path: unknown): string | undefined =>
  typeof path === "string" ? path.split("/").at(-2) : undefined;

/** Awk program that prints the text after the line `d` of a file. */
const ofDigest = `/^${mark}/ { if (on) exit; on = \\$0 == d; next } on`;

/**
 * Bash program that runs a step as root: it checks the digest of the text before anything runs. The
 * text of a copy that was cut off has another digest, and is passed over.
 * Standard input has further values and may have the text, in braces, and a mark at its end: no
 * value is used if they arrive only in part, and nothing runs if none arrives. Bash must not print
 * a part, which may be secret. `--norc`: bash reads ~/.bashrc for `-c` if its standard input is a
 * socket, as of some SSH servers.
 */
const loader = `
  d=\${0#*@}
  for v in "\${@:2}"; do declare -- "$v"; done
  t= read= v=$(cat) && eval "$v" 2>/dev/null; [[ $read == yes ]] ||
    { echo "reason: $0 did not get its standard input" >&2; exit 1; }
  for f in - ${scriptsFolder}/*/*.sh; do
    [[ $f == - ]] || t=$(awk -v d="${mark}$d" "${ofDigest}" "$f" 2>/dev/null)
    [[ $(printf "%s\\n" "$t" | sha256sum) == "$d"* ]] && break
    t=
  done
  [[ $t ]] || { echo "reason: [SCRIPT_MISSING] $0 is not on $(hostname)" >&2; exit 1; }
  eval "$t"`;

const harmless = /^[\w@%+=:,./-]*$/;

/** Returns one word for a shell, in quotes only where they are needed. */
const word = (text: string): string => (harmless.test(text) ? text : quote(text));

type Texts = Readonly<Record<string, string>>;

/**
 * Returns the command that runs a step.
 *
 * @param occasion argument of the scripts
 * @param values values of the scripts that everyone may read, one line each
 */
export function commandOf({ name, digest }: Step, occasion: string, values: Texts): string {
  const words = Object.keys(values)
    .sort()
    .map((one) => `${one}=${word(values[one] ?? "")}`);
  // The step begins a line, because a plan cuts long lines.
  const lines = [`sudo -n bash --norc -c '${loader}'`, `${name}@${digest} ${occasion}`, ...words];
  return lines.join(" \\\n  ");
}

/**
 * Returns the standard input of a step, with the values that its command does not have.
 *
 * @param step step whose text is sent as well. Default: the machine has the text
 */
export const inputOf = (values: Texts, step?: Step): string =>
  `{\n${assignments(values)}${step ? packed(step.text) : ""}read=yes\n}\n`;

/**
 * Returns a line that assigns a text to the loader's variable. The text is compressed, because the
 * state has it twice. Not by Node's zlib, whose output differs between releases and processors: the
 * same text must be the same input for every user.
 */
function packed(text: string): string {
  const bytes = gzipSync(strToU8(text), { level: 9, mtime: 0 });
  return `t=$(printf %s '${Buffer.from(bytes).toString("base64")}' | base64 -d | gunzip)\n`;
}

/** Number of characters from which a value travels by standard input. */
const long = 2000;

export const isLong = (value: string): boolean => value.length >= long;

/**
 * Returns what a command shows of a value. Of a long one this is a digest, by which a plan shows its
 * change, under another name: the variable itself has the whole value or is not set.
 */
export const shownOf = (name: string, value: string): readonly [name: string, text: string] =>
  isLong(value) ? [`${name}_SHA256`, digestOf(value)] : [name, value];

/** Returns the ID of the server on which a command runs; undefined for a command without one. */
const serverInCommand = (command: unknown): string | undefined =>
  typeof command === "string" ? /^ {2}SERVER_ID=([\w-]+)/m.exec(command)?.[1] : undefined;

/** Returns the ID of the server in the standard input of a script of an earlier release. */
const serverInInput = (stdin: unknown): string | undefined =>
  typeof stdin === "string" ? /^SERVER_ID='([^']+)'$/m.exec(stdin)?.[1] : undefined;

/**
 * Returns the ID of the server on which a script runs, from its inputs; undefined if unreadable.
 */
export const serverOfScript = (inputs: Readonly<Record<string, unknown>>): string | undefined =>
  serverInCommand(inputs["create"]) ??
  serverInCommand(inputs["delete"]) ??
  serverInInput(inputs["stdin"]);
