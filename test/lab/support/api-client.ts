import { readKubeAccess } from "../../../automation/verify/kubernetes-api.js";
import { exchange, type HttpAnswer } from "../../../cloud/http.js";

export interface ApiUse {
  /** Milliseconds between two turns that were answered, at the worst. */
  readonly longestGap: number;
  readonly answered: number;
  /** Turns that were refused, lost what they wrote, or had no answer in time. */
  readonly failed: number;
  /** All of it, for people. */
  readonly said: string;
}

export interface UseOptions {
  /** Milliseconds from one turn to the next, however long they take. Default: 100. */
  readonly every?: number;
  /** How many turns may be without an answer; one more counts as failed. Default: what begins while one request may take. */
  readonly most?: number;
}

const path = "/api/v1/namespaces/default/configmaps";
/** Milliseconds without a byte after which a request is given up. */
const timeout = 5_000;

/**
 * Writes through a cluster's API and reads what it wrote every 100 ms, from now until the end is asked for. The end says how it
 * went, also where all is well.
 */
export function useApi(
  kubeconfig: string,
  { every = 100, most = Math.ceil(timeout / every) }: UseOptions = {},
): { end(): Promise<ApiUse> } {
  const { server, ca, cert, key } = readKubeAccess(kubeconfig);
  const send = (method: string, url: string, body?: string): Promise<HttpAnswer> => {
    const headers = { "content-type": "application/json" };
    const options = { method, headers, ca, cert, key, timeout };
    return exchange(`${server}${url}`, { ...options, ...(body !== undefined && { body }) });
  };
  const turn = async (name: string, number: number): Promise<boolean> => {
    const object = objectOf(name, number);
    const put = await send("PUT", `${path}/${name}`, object);
    // The first write makes what the others replace.
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
  /** By the object that each has for itself: what another turn writes meanwhile is no loss. */
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
