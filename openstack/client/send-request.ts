import { CloudError, createStatusError, throwNotJson } from "../http/cloud-error.js";
import type { CloudSettings } from "../auth/clouds-file.js";
import type { ProxyVariables } from "../http/proxy-settings.js";
import {
  isUntrustedCertificate,
  sendHttpRequest,
  parseJsonBody,
  type HttpAnswer,
  type HttpOptions,
} from "../http/http-exchange.js";
import {
  isBrokenConnection,
  retryRequest,
  type RetryClock,
  type RetryOptions,
} from "../http/retry.js";

export interface CloudAnswer extends HttpAnswer {
  /** Number of tries. */
  readonly times: number;
}

/** Settings of a cloud, with the environment variables that name proxies. */
export interface CloudConnection extends CloudSettings {
  readonly proxies: ProxyVariables;
}

/** HTTP request with its description and limits. */
export type CloudRequest = Pick<HttpOptions, "method" | "headers" | "body" | "timeout" | "signal"> &
  RetryOptions;

/**
 * Sends a request. Returns the cloud's response, even if its status is an error. Throws a
 * CloudError if there is no response.
 */
export async function sendRequest(
  settings: CloudConnection,
  url: string,
  { what, repeatable, tries, ...options }: CloudRequest,
  clock: RetryClock,
): Promise<CloudAnswer> {
  const { ca, cert, key, verify, proxies } = settings;
  // The server may close an idle connection just before this program sends a request on it. A
  // request that must not be sent twice therefore uses a new connection.
  const all = { ...options, ca, cert, key, verify, proxies, alone: !repeatable };
  const { outcome, times } = await retryRequest(
    () => sendHttpRequest(url, all),
    { what, repeatable, tries },
    clock,
  );
  if ("answer" in outcome) return { ...outcome.answer, times };
  const { error } = outcome;
  throw isBrokenConnection(error)
    ? lost(settings, { what, repeatable }, times, error)
    : unreachable(settings, url, error);
}

/**
 * Returns the JSON value of the response's body. Returns undefined if the body is empty. Throws a
 * CloudError if the response has an error status or is not JSON.
 */
export function parseResponseBody({ status, body, times }: CloudAnswer, what: string): unknown {
  if (status >= 300) throw createStatusError(what, status, body, times);
  return body === "" ? undefined : (parseJsonBody(body) ?? throwNotJson(what));
}

function lost(
  { name }: CloudSettings,
  { what, repeatable }: RetryOptions,
  times: number,
  { code }: NodeJS.ErrnoException,
): CloudError {
  const tried = times === 1 ? "tried once" : `tried ${times} times`;
  return new CloudError(
    "unreachable",
    `${what}: the connection to cloud '${name}' broke before the answer came (${code}, ${tried}).`,
    repeatable
      ? "Check the network, and whether a device between this machine and the cloud cuts connections."
      : "The cloud may have done it already: check before you run the same command again.",
  );
}

function unreachable(
  { name }: CloudSettings,
  url: string,
  error: NodeJS.ErrnoException,
): CloudError {
  const { code, message } = error;
  const { origin } = new URL(url);
  if (code?.startsWith("ERR_SSL_") || code === "EPROTO")
    return new CloudError(
      "unreachable",
      `Cloud '${name}' rejected the TLS connection at ${origin} (${code}).`,
      "Check https in auth_url. A cloud that asks for a client certificate needs `cert` and `key` in clouds.yaml (OS_CERT, OS_KEY).",
    );
  if (isUntrustedCertificate(error))
    return new CloudError(
      "untrusted",
      `The certificate of cloud '${name}' at ${origin} cannot be verified (${message}).`,
    );
  return new CloudError(
    "unreachable",
    `Cloud '${name}' cannot be reached at ${origin} (${code ?? message}).`,
    "Check auth_url, the network and whether the cloud runs; for the lab: npx stackadm-lab status.",
  );
}
