import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { findProxy, type ProxyVariables } from "./proxy-settings.js";

export interface HttpOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Certificates in PEM of the CAs that the client trusts. Other CAs are not trusted. Default: the
   * CAs that Node trusts.
   */
  readonly ca?: string;
  /** Client certificate in PEM. Set only together with `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** Whether the server's certificate is verified (`verify` in clouds.yaml). Default: true. */
  readonly verify?: boolean;
  /**
   * Milliseconds without received data after which the request fails. After ten times this time, the
   * request fails even if data arrive. Default: 60 000.
   */
  readonly timeout?: number;
  /** Whether the request uses a new connection. Default: the request may use an idle connection. */
  readonly alone?: boolean;
  readonly signal?: AbortSignal;
  /**
   * Environment variables with the proxy: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in lower case.
   * Default: the variables of this process.
   */
  readonly proxies?: ProxyVariables;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Default of the option `timeout`, and the factor for the longest time of a request. */
const defaultTimeout = 60_000;
const longestTimeoutFactor = 10;

async function text(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** Sends an HTTP request, through a proxy if environment variables name a proxy for the host. */
export async function sendHttpRequest(url: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  const target = new URL(url);
  const { timeout = defaultTimeout } = options;
  const proxy = findProxy(target, options.proxies ?? process.env);
  if (!proxy) return sendDirectly(target, { ...options, timeout });
  // Loaded only here, because most users have no proxy and the library takes time to load.
  const { sendThroughProxy } = await import("./proxied-exchange.js");
  const longestTimeout = timeout * longestTimeoutFactor;
  return sendThroughProxy(target, proxy, { ...options, timeout, longestTimeout });
}

/**
 * Sends an HTTP request without a proxy. Uses `node:http`, because `fetch` does not accept the
 * certificate of a private CA.
 */
function sendDirectly(
  target: URL,
  options: HttpOptions & { readonly timeout: number },
): Promise<HttpAnswer> {
  const open = target.protocol === "https:" ? requestTls : requestPlain;
  return new Promise<HttpAnswer>((resolve, reject) => {
    const request = open(
      target,
      {
        method: options.method ?? "GET",
        headers: {
          ...options.headers,
          ...(options.body === undefined
            ? {}
            : { "content-length": String(Buffer.byteLength(options.body)) }),
        },
        signal: options.signal,
        ...(options.alone === true ? { agent: false } : {}),
        ...(target.protocol === "https:"
          ? {
              ca: options.ca,
              cert: options.cert,
              key: options.key,
              rejectUnauthorized: options.verify ?? true,
            }
          : {}),
      },
      (answer) => {
        text(answer).then((body) => {
          resolve({ status: answer.statusCode ?? 0, headers: flat(answer), body });
        }, reject);
      },
    );
    const giveUp = (): void => {
      const error = new Error(`no answer from ${target.host}`);
      request.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
    };
    request.setTimeout(options.timeout, giveUp);
    const longest = setTimeout(giveUp, options.timeout * longestTimeoutFactor);
    request.once("close", () => {
      clearTimeout(longest);
    });
    request.once("error", reject);
    request.end(options.body);
  });
}

function flat(answer: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

/** Pattern of Node's error codes for a server certificate that Node does not trust. */
const distrust =
  /CERT|ISSUER|SIGNATURE|UNABLE_TO_VERIFY|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH/;

/** Returns whether a request failed because the server's certificate cannot be verified. */
export const isUntrustedCertificate = ({ code = "" }: NodeJS.ErrnoException): boolean =>
  !code.startsWith("ERR_SSL_") && distrust.test(code);

/** Returns the JSON value of a body. Returns undefined if the body is not JSON. */
export function parseJsonBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
