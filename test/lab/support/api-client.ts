import { setTimeout as pause } from "node:timers/promises";
import { readKubeAccess } from "../../../automation/verify/kubernetes-api.js";
import { exchange } from "../../../cloud/http.js";

export interface ApiUse {
  /** Milliseconds between two requests that were answered, at the worst. */
  readonly longestGap: number;
  readonly answered: number;
  readonly failed: number;
}

const path = "/api/v1/namespaces/default/configmaps";

/** Reads and writes through a cluster's API every 100 ms, from now until the end is asked for. */
export function useApi(kubeconfig: string): { end(): Promise<ApiUse> } {
  const { server, ca, cert, key } = readKubeAccess(kubeconfig);
  const send = async (method: string, url: string, body?: string): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const options = { method, headers, ca, cert, key, timeout: 5_000 };
    const { status } = await exchange(`${server}${url}`, {
      ...options,
      ...(body !== undefined && { body }),
    });
    return status;
  };
  let [longestGap, answered, failed, last, running] = [0, 0, 0, Date.now(), true];
  const turn = async (number: number): Promise<void> => {
    const written = await send("PUT", `${path}/used`, objectOf(number)).catch(() => 0);
    // The first write makes what the others replace.
    const made = written === 404 ? await send("POST", path, objectOf(number)).catch(() => 0) : 0;
    const read = await send("GET", `${path}/used`).catch(() => 0);
    if (read !== 200 || (written !== 200 && made !== 201)) {
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
      return { longestGap: Math.max(longestGap, Date.now() - last), answered, failed };
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
