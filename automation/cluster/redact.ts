import { passwordOf } from "../../base/urls.js";

/** Shorter values occur by chance in ordinary text. */
const shortest = 8;
const replacement = "[secret]";

/** Takes known secrets out of everything that is shown. Fed with secret outputs and the environment's passwords. */
export class Redactor {
  private readonly secrets = new Set<string>();

  /** Adds every string in `value`, and every long line of a string with several. */
  add(value: unknown): void {
    if (typeof value === "string") {
      for (const part of [value, ...value.split("\n")]) {
        const trimmed = part.trim();
        if (trimmed.length >= shortest) this.secrets.add(trimmed);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) this.add(inner);
    }
  }

  /** `text` without the secrets. The longest go first, so that none is left in halves. */
  clean(text: string): string {
    let result = text;
    for (const secret of [...this.secrets].sort((a, b) => b.length - a.length))
      result = result.replaceAll(secret, replacement);
    return result;
  }
}

const secretNames = /^OS_(PASSWORD|TOKEN|APPLICATION_CREDENTIAL_SECRET)$|PASSPHRASE$/;

/** Adds the secrets of an environment. */
export function addEnvironment(redactor: Redactor, env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) if (secretNames.test(name)) redactor.add(value);
  // As the engine's errors may have it.
  redactor.add(passwordOf(env["PULUMI_BACKEND_URL"] ?? ""));
}

/** A redactor that knows the secrets of the environment. */
export function redactorFor(env: NodeJS.ProcessEnv): Redactor {
  const redactor = new Redactor();
  addEnvironment(redactor, env);
  return redactor;
}

/** What is thrown at a program that embeds the operations: it logs it as it is. */
export function withoutSecrets(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof Error)) return error;
  const redactor = redactorFor(env);
  const texts = Object.fromEntries(
    Object.getOwnPropertyNames(error).flatMap((name) => {
      const value: unknown = Reflect.get(error, name);
      return typeof value === "string" ? [[name, redactor.clean(value)]] : [];
    }),
  );
  return Object.assign(error, texts);
}

/** The lines of a kubeconfig that are no secret stay readable: only keys and tokens are added. */
const secretLines = /^\s*(client-key-data|token|password):\s*(\S+)/gm;

/** Adds the keys and tokens of a kubeconfig, not its host names and words. */
export function addKubeconfig(redactor: Redactor, kubeconfig: string): void {
  for (const match of kubeconfig.matchAll(secretLines)) redactor.add(match[2]);
}
