import { setTimeout as pause } from "node:timers/promises";
import { readKubeAccess } from "../../../automation/verify/kubernetes-api.js";
import { exchange } from "../../../cloud/http.js";

export interface ApiUse {
  /** Milliseconds between two requests that were answered, at the worst. */
  readonly longestGap: number;
  readonly answered: number;
  readonly failed: number;
  /** All of it, for people. */
  readonly said: string;
}

const path = "/api/v1/namespaces/default/configmaps";

/**
 * Writes through a cluster's API and reads what it wrote every 100 ms, from now until the end is asked for. The end says how it
 * went, also where all is well.
 */
export function useApi(kubeconfig: string): { end(): Promise<ApiUse> } {
  const { server, ca, cert, key } = readKubeAccess(kubeconfig);
  const send = async (method: string, url: string, body?: string) => {
    const headers = { "content-type": "application/json" };
    const options = { method, headers, ca, cert, key, timeout: 5_000 };
    return exchange(`${server}${url}`, { ...options, ...(body !== undefined && { body }) });
  };
  const statusOf = (method: string, url: string, body: string): Promise<number> =>
    send(method, url, body).then(
      ({ status }) => status,
      () => 0,
    );
  let [longestGap, answered, failed, last, running] = [0, 0, 0, Date.now(), true];
  const turn = async (number: number): Promise<void> => {
    const written = await statusOf("PUT", `${path}/used`, objectOf(number));
    // The first write makes what the others replace.
    const made = written === 404 ? await statusOf("POST", path, objectOf(number)) : 0;
    const read = await send("GET", `${path}/used`).catch(() => undefined);
    const kept = read?.status === 200 && read.body.includes(`"number":"${String(number)}"`);
    if (!kept || (written !== 200 && made !== 201)) {
      failed += 1;
      return;
    }
    const now = Date.now();
    [longestGap, last, answered] = [Math.max(longestGap, now - last), now, answered + 1];
  };
  const loop = async (): Promise<void> => {
    for (let number = 0; running; number++) {
      await turn(number);
      await pause(100);
    }
  };
  const looping = loop();
  return {
    end: async () => {
      running = false;
      await looping;
      const gap = Math.max(longestGap, Date.now() - last);
      const said = `${String(answered)} answered, ${String(failed)} failed, longest gap ${String(gap)} ms`;
      process.stdout.write(`      ${said}\n`);
      return { longestGap: gap, answered, failed, said };
    },
  };
}

const objectOf = (number: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "used", namespace: "default" },
    data: { number: String(number) },
  });
