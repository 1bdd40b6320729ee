/** Defines the type of an item of the CIS table (cis.ts), and functions that create items. */
import { parseDocument } from "yaml";

export type Role = "control-plane" | "worker";

export interface Item {
  readonly number: string;
  readonly title: string;
  readonly roles: readonly Role[];
  /** Bash command that prints the answer. It may use the functions of `preamble`. */
  readonly question: string;
  /** Returns whether the answer passes. The answer is never empty. */
  readonly passes: (answer: string) => boolean;
}

export const preamble = `
# files PATH...: mode and owner of those that are there.
files() { for file; do [[ ! -e $file ]] || stat -c '%a %U:%G' "$file"; done; }
# flags NAME: of the process of that name, one a line.
flags() {
  local file words
  for file in /proc/[0-9]*/cmdline; do
    mapfile -d '' -t words 2>/dev/null <"$file" || continue
    [[ \${words[0]##*/} == "$1" ]] || continue
    printf '%s\\n' "\${words[@]:1}"
    return
  done
}
# listens PORT: where.
listens() { ss -Hltn "sport = :$1" | awk '{ print $4 }'; }
`;

const controlPlane: readonly Role[] = ["control-plane"];
export const every: readonly Role[] = ["control-plane", "worker"];

export const linesOf = (answer: string): string[] => answer.trim().split("\n");

/** Returns two items about one or several files: the mode of the files, and their owner. */
export function files(
  [modeNumber, ownerNumber]: readonly [mode: string | undefined, owner: string],
  title: string,
  question: string,
  wanted: {
    readonly roles?: readonly Role[];
    readonly mode?: number;
    readonly owner?: string;
  } = {},
): Item[] {
  const { roles = controlPlane, mode = 0o600, owner = "root:root" } = wanted;
  const closed = (line: string): boolean => (parseInt(line, 8) & ~mode) === 0;
  const owned = (line: string): boolean => line.endsWith(` ${owner}`);
  const item = (number: string, what: string, good: (line: string) => boolean): Item => ({
    number,
    title: `${what} of ${title}`,
    roles,
    question,
    passes: (answer) => linesOf(answer).every(good),
  });
  return [
    ...(modeNumber === undefined ? [] : [item(modeNumber, "mode", closed)]),
    item(ownerNumber, "owner", owned),
  ];
}

type Value = string | undefined;
type Good = (value: Value) => boolean;

export const given: Good = (value) => value !== undefined && value !== "";
export const absent: Good = (value) => value === undefined;
export const is =
  (wanted: string): Good =>
  (value) =>
    value === wanted;
export const absentOr =
  (wanted: string): Good =>
  (value) =>
    value === undefined || value === wanted;
export const has =
  (name: string): Good =>
  (value = "") =>
    value.split(",").includes(name);
export const hasNot =
  (name: string): Good =>
  (value = "") =>
    !value.split(",").includes(name);
export const atLeast =
  (least: number): Good =>
  (value) =>
    Number(value) >= least;

/**
 * Returns the value of a flag. `answer` contains one flag per line. If a flag occurs several times,
 * the last line counts.
 */
const flagIn = (answer: string, name: string): Value =>
  linesOf(answer)
    .findLast((line) => line === `--${name}` || line.startsWith(`--${name}=`))
    ?.replace(/^[^=]*=?/, "");

/**
 * Returns a function that creates items about the flags of a process. An item passes if `good`
 * returns true for every flag in `names`.
 */
export const ofProcess =
  (process: string) =>
  (number: string, title: string, names: string, good: Good): Item => ({
    number,
    title,
    roles: controlPlane,
    question: `flags ${process}`,
    passes: (answer) => names.split(" ").every((name) => good(flagIn(answer, name))),
  });

/** Bash command that prints kubelet's command line flags and its configuration file. */
const kubeletQuestion = "flags kubelet; echo ---; cat /var/lib/kubelet/config.yaml";

/**
 * Returns an item about kubelet. `setting` contains the name of the command line flag and the name
 * of the field in the configuration file. The flag takes precedence.
 */
export function kubelet(number: string, title: string, setting: string, good: Good): Item {
  const [flag = "", field = ""] = setting.split(" ");
  const inFile = (text: string): Value => {
    const found: unknown = parseDocument(text).getIn(field.split("."));
    return typeof found === "string" || typeof found === "boolean" ? String(found) : undefined;
  };
  return {
    number,
    title,
    roles: every,
    question: kubeletQuestion,
    passes: (answer) => {
      const [flags = "", text = ""] = answer.split("\n---\n");
      return flags !== "" && text !== "" && good(flagIn(flags, flag) ?? inFile(text));
    },
  };
}
