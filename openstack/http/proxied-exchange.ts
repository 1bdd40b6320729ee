import { Pool, ProxyAgent, request } from "undici";
import type { HttpAnswer, HttpOptions } from "./http-exchange.js";

type ProxiedOptions = HttpOptions & {
  readonly timeout: number;
  /** Milliseconds after which the request fails, even if data arrive. */
  readonly longestTimeout: number;
};

/** Codes of failed connections. In a request through a proxy, they concern the proxy itself. */
const proxyUnreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

const withCode = (text: string, code: string): Error => Object.assign(new Error(text), { code });

/**
 * Returns the error of a request through a proxy, with the codes of `node:http`, on which the
 * retries depend.
 */
function convertError(error: unknown, target: URL, proxy: URL): unknown {
  if (!(error instanceof Error)) return error;
  // The code of an aborted signal is a number.
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const name = `the proxy ${proxy.host}`;
  if (code === "UND_ERR_SOCKET") return withCode(`${name} closed the connection`, "ECONNRESET");
  if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(code))
    return withCode(`no answer from ${target.host} through ${name}`, "ETIMEDOUT");
  if (proxyUnreachable.test(code)) return new Error(`${name} cannot be reached: ${code}`);
  const [, status] = /^Proxy [a-z ]+\((\d{3})\)/i.exec(error.message) ?? [];
  if (status !== undefined) return new Error(`${name} answered ${status}`);
  return code.startsWith("UND_ERR_") ? new Error(`${name}: ${error.message}`) : error;
}

/** Sends an HTTP request through an HTTP proxy. Each request uses a new connection. */
export async function sendThroughProxy(
  target: URL,
  proxy: URL,
  { method = "GET", headers, body, verify = true, timeout, signal, ...options }: ProxiedOptions,
): Promise<HttpAnswer> {
  const { ca, cert, key, longestTimeout } = options;
  signal?.throwIfAborted();
  const pools: Pool[] = [];
  // undici itself would repeat a tunnel without end if the proxy closes it, and does not listen to
  // a signal before it has a connection.
  let failure: Error | undefined;
  const end = (error: Error): void => {
    failure ??= error;
    for (const pool of pools) void pool.destroy(error);
  };
  const stop = (): void => {
    end(signal?.reason as Error);
  };
  const open = (origin: string | URL, settings: Pool.Options): Pool => {
    const pool = new Pool(origin, { ...settings, headersTimeout: timeout, bodyTimeout: timeout });
    pools.push(pool);
    return pool;
  };
  const agent = new ProxyAgent({
    uri: proxy.href,
    // Only TLS needs a tunnel. Many proxies allow tunnels only to the ports of TLS.
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { ca, cert, key, rejectUnauthorized: verify, timeout },
    clientFactory: open,
    factory: (origin, settings) =>
      open(origin, settings).on("connectionError", (_, __, error) => {
        end(error);
      }),
  });
  signal?.addEventListener("abort", stop);
  const longest = setTimeout(() => {
    end(withCode(`no answer from ${target.host} through the proxy ${proxy.host}`, "ETIMEDOUT"));
  }, longestTimeout);
  try {
    const answer = await request(target, { dispatcher: agent, method, headers, body });
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]),
      ),
      body: await answer.body.text(),
    };
  } catch (error) {
    throw convertError(failure ?? error, target, proxy);
  } finally {
    clearTimeout(longest);
    signal?.removeEventListener("abort", stop);
    await agent.destroy();
  }
}
