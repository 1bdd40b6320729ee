import { createHash } from "node:crypto";
import { gzipSync, strToU8 } from "fflate";
import { renderShellAssignments, quoteForShell } from "./shell-quoting.js";

/*
 * Scripts on machines. Each machine gets one file with the texts of all steps of its role. A
 * command runs a step and contains only the digest of the step's text. Plans therefore show which
 * step changes, and the state does not contain the text. A step that runs when its resource is
 * deleted is an exception: it sends its own text. The machine may then have no file, or the file of
 * another release.
 */

/** Scripts that run together in one shell on a machine. */
export interface ScriptStep {
  readonly name: string;
  /** First 16 digits of the text's SHA-256. */
  readonly digest: string;
  readonly text: string;
  /** Whether the scripts get `create` or `update` as their argument. @default false */
  readonly tellsCreate: boolean;
}

export interface ScriptStepArgs {
  /** Texts of static shell scripts. One shell runs them one after another. */
  readonly scripts: readonly string[];
  /**
   * Texts of programs that the scripts install. Keys are the variables in which the scripts get
   * them.
   */
  readonly programs?: Readonly<Record<string, string>>;
  readonly tellsCreate?: boolean;
}

const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Beginning of the line before each text in the file of a role. */
const mark = "#=";

/**
 * Returns a step. The digest is computed from the text with exactly one newline at the end, because
 * the shell's `$(...)` removes newlines at the end.
 */
export function createScriptStep(
  name: string,
  { scripts, programs = {}, tellsCreate = false }: ScriptStepArgs,
): ScriptStep {
  const text = `${(renderShellAssignments(programs) + scripts.join("\n")).replace(/\n+$/, "")}\n`;
  if (text.split("\n").some((line) => line.startsWith(mark)))
    throw new RangeError(`the step ${name} has a line that begins with ${mark}`);
  return { name, digest: digestOf(text), text, tellsCreate };
}

/** File with the texts of several steps. */
export interface ScriptBundle {
  readonly digest: string;
  readonly text: string;
}

/** Returns the file with the texts of all steps of a role. */
export function createScriptBundle(steps: readonly ScriptStep[]): ScriptBundle {
  const text = steps.map((step) => `${mark}${step.digest}\n${step.text}`).join("");
  return { digest: digestOf(text), text };
}

/** Folder for the files, in the home directory of the login user. */
export const scriptsFolder = ".stackadm";

/**
 * End of the name of the resource that copies the scripts to a machine. This resource connects to
 * the machine before all other resources.
 */
export const copiedScriptsNameSuffix = "scripts";

/** Returns the path of a file on the machine with this server. */
export const getRemotePath = ({ digest }: ScriptBundle, server: string): string =>
  `${scriptsFolder}/${server}/${digest}.sh`;

/** Returns the ID of the server in a path of {@link getRemotePath}. */
export const findPathServerId = (path: unknown): string | undefined =>
  typeof path === "string" ? path.split("/").at(-2) : undefined;

/** Awk program that prints the text after the line `d` of a file. */
const ofDigest = `/^${mark}/ { if (on) exit; on = \\$0 == d; next } on`;

/**
 * Bash program that runs a step as root. The program runs the step's text only if the text has the
 * expected digest. A file that was copied only in part does not have the expected digest. Standard
 * input contains further values and, for some steps, the text. Standard input is one group in
 * braces with `read=yes` at its end. If standard input is incomplete, the program evaluates nothing
 * and fails. Error messages of bash are suppressed, because they could contain a part of a secret.
 * `--norc` is necessary for some SSH servers: with `-c`, bash reads ~/.bashrc if its standard input
 * is a socket.
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

/** Returns the text as one word of a shell command. Adds quotes only if they are necessary. */
const word = (text: string): string => (harmless.test(text) ? text : quoteForShell(text));

type Texts = Readonly<Record<string, string>>;

/**
 * Returns the command that runs a step.
 *
 * @param occasion argument of the scripts
 * @param values values of the scripts that everyone may read. Each value is on a separate line
 */
export function renderStepCommand(
  { name, digest }: ScriptStep,
  occasion: string,
  values: Texts,
): string {
  const words = Object.keys(values)
    .sort()
    .map((one) => `${one}=${word(values[one] ?? "")}`);
  // The step is at the beginning of a line, because plans cut long lines.
  const lines = [`sudo -n bash --norc -c '${loader}'`, `${name}@${digest} ${occasion}`, ...words];
  return lines.join(" \\\n  ");
}

/**
 * Returns the standard input of a step: the values that are not in the command.
 *
 * @param step step whose text is sent, too. Default: the machine already has the text
 */
export const renderStandardInput = (values: Texts, step?: ScriptStep): string =>
  `{\n${renderShellAssignments(values)}${step ? packed(step.text) : ""}read=yes\n}\n`;

/**
 * Returns a line that assigns a text to the loader's variable `t`. The text is compressed, because
 * the state contains it twice. Equal texts must give equal input on every machine. Node's zlib is
 * not used, because its output depends on the release of Node and on the processor.
 */
function packed(text: string): string {
  const bytes = gzipSync(strToU8(text), { level: 9, mtime: 0 });
  return `t=$(printf %s '${Buffer.from(bytes).toString("base64")}' | base64 -d | gunzip)\n`;
}

/** Number of characters from which a value is sent by standard input. */
const long = 2000;

export const isLongValue = (value: string): boolean => value.length >= long;

/**
 * Returns the name and the text with which the command shows a value. A long value is shown as its
 * digest, so a plan shows when the value changes. The digest has another name than the variable,
 * because the variable must contain the complete value.
 */
export const getShownValue = (
  name: string,
  value: string,
): readonly [name: string, text: string] =>
  isLongValue(value) ? [`${name}_SHA256`, digestOf(value)] : [name, value];

/** Returns the ID of the server in a script's command. Returns undefined if there is none. */
const serverInCommand = (command: unknown): string | undefined =>
  typeof command === "string" ? /^ {2}SERVER_ID=([\w-]+)/m.exec(command)?.[1] : undefined;

/**
 * Returns the ID of the server in the inputs of a script. Returns undefined if it cannot be read.
 */
export const findScriptServerId = (inputs: Readonly<Record<string, unknown>>): string | undefined =>
  serverInCommand(inputs["create"]) ?? serverInCommand(inputs["delete"]);
