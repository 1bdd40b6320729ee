import { spawn } from "node:child_process";
import type { Cast, TerminalOutput, TerminalSize } from "./cast.js";

/** Returns the text as one word of a shell command. */
const quote = (text: string): string =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Environment of the command: a terminal, and no CI, in which progress is plain lines. */
function terminalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, CI: undefined, TERM: "xterm-256color" };
}

/**
 * Runs a command in a pseudo-terminal of this size and returns its output. Throws if the command
 * fails. `script` of util-linux provides the pseudo-terminal.
 */
export async function recordTerminal(
  command: readonly [string, ...string[]],
  size: TerminalSize,
  env: NodeJS.ProcessEnv,
): Promise<Cast> {
  const shown = command.map(quote).join(" ");
  const inside = `stty cols ${size.columns} rows ${size.rows}; exec ${shown}`;
  const script = spawn("script", ["-q", "-e", "-f", "-c", inside, "/dev/null"], {
    env: terminalEnvironment(env),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const outputs: TerminalOutput[] = [{ seconds: 0, text: `$ ${shown}\r\n` }];
  const start = performance.now();
  script.stdout.setEncoding("utf8");
  script.stdout.on("data", (text: string) => {
    outputs.push({ seconds: (performance.now() - start) / 1000, text });
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    script.once("error", reject);
    script.once("close", resolve);
  });
  script.stdin.destroy();
  if (code !== 0) throw new Error(`${shown} failed with exit code ${String(code)}`);
  return { size, command: shown, outputs };
}

/**
 * Replaces the home directory in a recording by `~`. Throws if the recording still contains the
 * directory, because two outputs divide it.
 */
export function hideHome(cast: Cast, home: string): Cast {
  const outputs = cast.outputs.map(({ seconds, text }) => ({
    seconds,
    text: text.replaceAll(home, "~"),
  }));
  if (
    outputs
      .map(({ text }) => text)
      .join("")
      .includes(home)
  )
    throw new Error(`the recording contains ${home}; record it again`);
  return { ...cast, outputs };
}
