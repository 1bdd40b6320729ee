import { readKubeAccess } from "../../../../automation/verify/kubernetes-client.js";
import { sendHttpRequest, type HttpAnswer } from "../../../../openstack/http/http-exchange.js";

export interface ApiUse {
  /**
   * Longest time in milliseconds between two successful turns. In each turn, the client writes a
   * value and reads it back.
   */
  readonly longestGap: number;
  readonly answered: number;
  /** Number of turns that were refused, lost their write, or timed out. */
  readonly failed: number;
  /** All figures as text. */
  readonly said: string;
}

export interface UseOptions {
  /** Milliseconds from the start of one turn to the next. @default 100 */
  readonly every?: number;
  /**
   * Maximum number of turns that wait for an answer at the same time. Further turns count as
   * failed.
   * @default number of turns that start within the timeout of a request
   */
  readonly most?: number;
}

const path = "/api/v1/namespaces/default/configmaps";
/** Milliseconds without data after which a request is aborted. */
const timeout = 5_000;

/**
 * Writes a value through a cluster's API and reads it back every 100 ms, until `end` is called.
 * `end` prints and returns the figures.
 */
export function useApi(
  kubeconfig: string,
  { every = 100, most = Math.ceil(timeout / every) }: UseOptions = {},
): { end(): Promise<ApiUse> } {
  const { server, ca, cert, key } = readKubeAccess(kubeconfig);
  const send = (method: string, url: string, body?: string): Promise<HttpAnswer> => {
    const headers = { "content-type": "application/json" };
    const options = { method, headers, ca, cert, key, timeout };
    return sendHttpRequest(`${server}${url}`, { ...options, ...(body !== undefined && { body }) });
  };
  const turn = async (name: string, number: number): Promise<boolean> => {
    const object = objectOf(name, number);
    const put = await send("PUT", `${path}/${name}`, object);
    // The first write creates the object, later writes replace it.
    const { status } = put.status === 404 ? await send("POST", path, object) : put;
    const read = await send("GET", `${path}/${name}`);
    const kept = read.status === 200 && read.body.includes(`"number":"${String(number)}"`);
    return kept && [200, 201].includes(status);
  };
  let [longestGap, answered, failed, last, begun] = [0, 0, 0, Date.now(), 0];
  const note = (kept: boolean): void => {
    if (!kept) {
      failed += 1;
      return;
    }
    const now = Date.now();
    [longestGap, last, answered] = [Math.max(longestGap, now - last), now, answered + 1];
  };
  /**
   * Turns that have not ended, by the name of their object. Each concurrent turn uses a separate
   * object. Otherwise, a turn would overwrite the value of another turn, which would count as a
   * lost write.
   */
  const waiting = new Map<string, Promise<void>>();
  const begin = (): void => {
    const number = begun++;
    const name = `used-${String(number % most)}`;
    if (waiting.has(name)) {
      note(false);
      return;
    }
    const done = turn(name, number)
      .catch(() => false)
      .then((kept) => {
        waiting.delete(name);
        note(kept);
      });
    waiting.set(name, done);
  };
  const timer = setInterval(begin, every);
  return {
    end: async () => {
      clearInterval(timer);
      await Promise.all(waiting.values());
      const gap = Math.max(longestGap, Date.now() - last);
      const said = `${String(answered)} answered, ${String(failed)} failed, longest gap ${String(gap)} ms`;
      process.stdout.write(`      ${said}\n`);
      return { longestGap: gap, answered, failed, said };
    },
  };
}

const objectOf = (name: string, number: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data: { number: String(number) },
  });
