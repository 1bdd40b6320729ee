/*
 * Waits of the scripts on machines, read from the scripts. Each wait is a call of one of a few
 * functions and programs, with its time limit as an argument.
 */

/** Script with its path in the repository. */
export interface ScriptSource {
  readonly path: string;
  readonly text: string;
}

export interface ShellWait {
  readonly path: string;
  /** Function or program that waits: a key of `patterns`. */
  readonly waiter: string;
  /** Seconds. The limit of a variable is the variable's name: `$start_seconds`. */
  readonly limit: number | string;
  /** Whether the limit is multiplied by the machine's timeout factor. */
  readonly isScaled: boolean;
  /** Command that is repeated or limited, or the unit or the lock. Empty for a loop. */
  readonly command: string;
  /** Rest of the statement, which handles the end of the time. */
  readonly rest: string;
}

/** Text up to a redirection or to the end of a command. */
const command = String.raw`(?<command>.+?)(?= *(?:\d?>|<|\|\||&&|;|\)| \}|$))`;

/** Patterns of the calls. Groups: the limit, and the command. */
const patterns: Readonly<Record<string, RegExp>> = {
  poll: new RegExp(String.raw`(?<![\w-])poll (?<limit>"?\$?\w+"?) ${command}`, "g"),
  timeout: new RegExp(
    String.raw`(?<![\w-])timeout (?<limit>"\$\(\([^"]+ \* factor\)\)"|\d+) ${command}`,
    "g",
  ),
  wait_unit: /(?<![\w-])wait_unit (?<command>\w+) (?<limit>\d+)/g,
  wait_until_stable: new RegExp(String.raw`\bwait_until_stable (?<limit>\d+) ${command}`, "g"),
  wait_until_none_left: /\bwait_until_none_left (?<command>"[^"]+"|\w+) (?<limit>\d+) \w+/g,
  await_proxies: /\bawait_proxies (?<limit>"\$[a-z]\w*")(?<command>)/g,
  flock: /\bflock (?:-w|--wait) (?<limit>"?\$\(\(\d+ \* factor\)\)"?) (?<command>\S+)(?: 8>&-)?/g,
  loop: /\bend=(?<limit>\$\(\(SECONDS \+ \d+(?: \* factor)?\)\))(?<command>)/g,
};

/** Functions that multiply their argument by the factor. */
const scaling = /^(?:poll|wait_|await_)/;

/** Matches the definition of a function that waits. The calls of the function are the waits. */
const definition = /^(?:poll|wait_unit)\(\) \{/;

/** Returns the statements of a script, each in one line, without comments. */
function statementsIn(text: string): readonly string[] {
  const statements: string[] = [];
  let open = "";
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line.startsWith("#") || definition.test(line)) continue;
    open += open === "" ? line : ` ${line}`;
    if (/(?:\|\||&&|\||\|\| \{)$/.test(line)) continue;
    if (open.endsWith("\\")) open = open.slice(0, -1).trimEnd();
    else {
      statements.push(open);
      open = "";
    }
  }
  return statements;
}

/** Returns the limit without quotes and arithmetic. */
function parseLimit(word: string): Pick<ShellWait, "limit" | "isScaled"> {
  const text = word.replaceAll(/["()]|\$\(\(|SECONDS \+ /g, "");
  const limit = text.replace(" * factor", "");
  return {
    limit: /^\d+$/.test(limit) ? Number(limit) : limit,
    isScaled: text.endsWith(" * factor"),
  };
}

/** Returns all waits in a script, in the order of their statements. */
export const findShellWaits = ({ path, text }: ScriptSource): readonly ShellWait[] =>
  statementsIn(text).flatMap((statement) =>
    Object.entries(patterns).flatMap(([waiter, pattern]) =>
      [...statement.matchAll(pattern)].map((match): ShellWait => {
        const { limit = "", command: awaited = "" } = match.groups ?? {};
        const bound = parseLimit(limit);
        return {
          path,
          waiter,
          limit: bound.limit,
          isScaled: bound.isScaled || scaling.test(waiter),
          command: awaited.replaceAll('"', "").trim(),
          rest: statement.slice(match.index + match[0].length),
        };
      }),
    ),
  );

/** Returns a message of a script as text for readers: without commands that insert values. */
const readable = (message: string): string =>
  message
    .replaceAll("$(hostname)", "the machine")
    .replaceAll("\\`", "'")
    .replace(/[;:]? ?\$[({].*$/, "");

/**
 * Returns what happens at the end of the time. Returns undefined if the statement does not show it.
 */
export function findEnd({ waiter, command: awaited, rest }: ShellWait): string | undefined {
  if (waiter === "wait_unit") return `fails: "${awaited} did not end within ... s"`;
  const handled = rest.replace(/^(?: *\d?>&?\S+)* */, "");
  const [, call, message = ""] =
    /^\|\| (?:\{ .*?)?(die(?:_as [A-Z_]+)?|say|note) "((?:[^"\\]|\\.)*)"/.exec(handled) ?? [];
  if (call === undefined) return handled.startsWith("|| :") ? "continues" : undefined;
  return `${call.startsWith("die") ? "fails" : "continues"}: "${readable(message)}"`;
}
