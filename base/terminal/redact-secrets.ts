import type { Progress } from "../progress.js";
import { findUrlPasswords, replaceUrlPasswords } from "../url-passwords.js";

/*
 * The one place that removes secrets from everything that leaves the program: printed text, JSON
 * lines, events, and thrown errors. Results that contain secrets by design are data: the caller
 * asked for them.
 */

/** Length of the shortest secret. Shorter values occur in ordinary text by chance. */
const shortest = 8;
const replacement = "[secret]";

/** Pattern of a private key in PEM. In JSON, its line ends are escaped. */
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Pattern of the private key in a kubeconfig. */
const clientKey = /(client-key-data\\?["']?:\s*\\?["']?)[A-Za-z0-9+/=]+/g;

/**
 * Names of the fields that programs use as data. Their values are not changed, because a secret
 * that is also an ordinary word would corrupt them: paths, URNs, IDs, and values that the user
 * asked for.
 */
const dataFields: ReadonlySet<string> = new Set([
  ...["urn", "id", "operation", "identities", "type", "code"],
  ...["path", "directory", "kubeconfig", "timeline"],
  ...["variables", "environment", "outputs"],
]);

/** Returns the converted text, or the text itself if it cannot be converted. */
function convertIfPossible(convert: (text: string) => string, text: string): string {
  try {
    return convert(text);
  } catch {
    // The text is not valid: for example, it contains `%` without two digits.
    return text;
  }
}

/** Returns the forms in which a secret may occur: as it is, in JSON, and in URLs. */
const formsOf = (secret: string): readonly string[] =>
  [secret, convertIfPossible(decodeURIComponent, secret)]
    .flatMap((one) => [
      one,
      JSON.stringify(one).slice(1, -1),
      convertIfPossible(encodeURIComponent, one),
    ])
    .filter((form) => form.length >= shortest);

/** Replaces secrets in text: the secrets that were added, and private keys and passwords in URLs. */
export class Redactor {
  readonly #secrets = new Set<string>();
  /** Secrets, the longest first. Undefined after a secret was added. */
  #ordered: readonly string[] | undefined;

  /** Adds every string in `value`, and each line of these strings, except short strings. */
  add(value: unknown): void {
    if (typeof value === "string") {
      for (const part of [value, ...value.split("\n")]) {
        const trimmed = part.trim();
        for (const form of formsOf(trimmed)) this.#secrets.add(form);
      }
      this.#ordered = undefined;
    } else if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) this.add(inner);
    }
  }

  /**
   * Returns `text` without the secrets. Replaces longer secrets first, because a secret may contain
   * another secret.
   */
  clean(text: string): string {
    this.#ordered ??= [...this.#secrets].sort((a, b) => b.length - a.length);
    let result = text;
    for (const secret of this.#ordered) result = result.replaceAll(secret, replacement);
    result = result.replace(privateKey, replacement).replace(clientKey, `$1${replacement}`);
    return replaceUrlPasswords(result, replacement);
  }

  /**
   * Returns a copy of an object or a list without the secrets in its texts. Fields that programs use
   * as data, and objects of classes, are not changed.
   */
  cleanFields<T>(value: T): T {
    return this.#cleaned(value, "") as T;
  }

  #cleaned(value: unknown, name: string): unknown {
    if (dataFields.has(name)) return value;
    if (typeof value === "string") return this.clean(value);
    if (Array.isArray(value)) return value.map((one: unknown) => this.#cleaned(one, ""));
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.#cleaned(inner, key)]),
    );
  }
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

/** Pattern of the names of variables whose values are secret. */
const secretNames =
  /(PASSWORD|PASSPHRASE|PASSCODE|TOKEN|SECRET|(SECRET|ACCESS|ACCOUNT|STORAGE|API|PRIVATE)_?KEY)$/i;

/** Returns whether a variable contains a secret: by its name, or because its value is a key. */
const isSecret = (name: string, value: string): boolean =>
  secretNames.test(name) || value.includes("PRIVATE KEY-----");

/** Pattern of secrets in credentials in JSON, for example of a secrets provider. */
const jsonSecrets = /"(?:private_key|client_secret|refresh_token)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** Adds the secrets of an environment, also the passwords in URLs of proxies and backends. */
export function addEnvironmentSecrets(redactor: Redactor, env: NodeJS.ProcessEnv): void {
  for (const [name, value = ""] of Object.entries(env)) {
    if (isSecret(name, value)) redactor.add(value);
    redactor.add(findUrlPasswords(value));
    for (const [, text = ""] of value.matchAll(jsonSecrets))
      redactor.add(convertIfPossible((json) => String(JSON.parse(json)), text));
  }
}

/** Returns a redactor with the secrets of the environment. */
export function createRedactor(env: NodeJS.ProcessEnv): Redactor {
  const redactor = new Redactor();
  addEnvironmentSecrets(redactor, env);
  return redactor;
}

/**
 * Removes secrets from an error, its causes and its fields, because the program that embeds stackadm
 * may log the error. Returns the same error. Fields that are not enumerable are kept, except for
 * the texts of the error.
 */
export function redactError(error: unknown, redactor: Redactor): unknown {
  if (typeof error === "string") return redactor.clean(error);
  redactErrors(error, redactor, new Set());
  return error;
}

function redactErrors(value: unknown, redactor: Redactor, seen: Set<unknown>): void {
  if (seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value)) for (const one of value) redactErrors(one, redactor, seen);
  if (!(value instanceof Error)) return;
  for (const name of Object.getOwnPropertyNames(value)) {
    const inner: unknown = Reflect.get(value, name);
    redactErrors(inner, redactor, seen);
    const isShown = Object.prototype.propertyIsEnumerable.call(value, name) || name === "cause";
    if ((typeof inner === "string" || isShown) && !isFixed(name))
      Reflect.set(value, name, redactor.cleanFields(inner));
  }
}

/** Returns whether a field of an error keeps its value. */
const isFixed = (name: string): boolean => name === "name" || dataFields.has(name);

/** Returns a progress that shows the same reports without secrets. */
export const redactProgress = (progress: Progress, redactor: Redactor): Progress => {
  const clean = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : redactor.clean(text);
  return {
    step: (title, expectedSeconds) => {
      const step = progress.step(redactor.clean(title), expectedSeconds);
      return {
        update: (detail) => {
          step.update(redactor.clean(detail));
        },
        done: (note) => {
          step.done(clean(note));
        },
        failed: (note) => {
          step.failed(clean(note));
        },
      };
    },
    note: (text) => {
      progress.note(redactor.clean(text));
    },
  };
};

/** Pattern of the lines of a kubeconfig that contain secrets. */
const secretLines = /^\s*(client-key-data|token|password):\s*(\S+)/gm;

/** Adds the private keys, tokens and passwords of a kubeconfig. Host names are not secret. */
export function addKubeconfigSecrets(redactor: Redactor, kubeconfig: string): void {
  for (const match of kubeconfig.matchAll(secretLines)) redactor.add(match[2]);
}
