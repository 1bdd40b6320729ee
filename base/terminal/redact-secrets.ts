import { findUrlPassword } from "../url-passwords.js";

/** Length of the shortest secret. Shorter values occur in ordinary text by chance. */
const shortest = 8;
const replacement = "[secret]";

/** Replaces known secrets in all printed text: secret outputs and the environment's passwords. */
export class Redactor {
  private readonly secrets = new Set<string>();

  /** Adds every string in `value`, and each line of these strings, except short strings. */
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

  /**
   * Returns `text` without the secrets. Replaces longer secrets first, because a secret may contain
   * another secret.
   */
  clean(text: string): string {
    let result = text;
    for (const secret of [...this.secrets].sort((a, b) => b.length - a.length))
      result = result.replaceAll(secret, replacement);
    return result;
  }
}

const secretNames = /^OS_(PASSWORD|TOKEN|APPLICATION_CREDENTIAL_SECRET)$|PASSPHRASE$/;

/** Adds the secrets of an environment. */
export function addEnvironmentSecrets(redactor: Redactor, env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) if (secretNames.test(name)) redactor.add(value);
  // The engine's errors may contain the backend's URL.
  redactor.add(findUrlPassword(env["PULUMI_BACKEND_URL"] ?? ""));
}

/** Returns a redactor with the secrets of the environment. */
export function createRedactor(env: NodeJS.ProcessEnv): Redactor {
  const redactor = new Redactor();
  addEnvironmentSecrets(redactor, env);
  return redactor;
}

/** Removes secrets from an error. The program that embeds stackadm may log the error. */
export function redactError(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof Error)) return error;
  const redactor = createRedactor(env);
  const texts = Object.fromEntries(
    Object.getOwnPropertyNames(error).flatMap((name) => {
      const value: unknown = Reflect.get(error, name);
      return typeof value === "string" ? [[name, redactor.clean(value)]] : [];
    }),
  );
  return Object.assign(error, texts);
}

/** Pattern of the lines of a kubeconfig that contain secrets. */
const secretLines = /^\s*(client-key-data|token|password):\s*(\S+)/gm;

/** Adds the private keys, tokens and passwords of a kubeconfig. Host names are not secret. */
export function addKubeconfigSecrets(redactor: Redactor, kubeconfig: string): void {
  for (const match of kubeconfig.matchAll(secretLines)) redactor.add(match[2]);
}
