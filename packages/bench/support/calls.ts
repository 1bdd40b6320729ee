import type { SeenCall } from "../../../test/lab/support/faults/faulty-proxy.js";
import { managementPorts } from "../../lab/cloud/configuration/common.js";
import type { Figures } from "./statistics.js";

const services = new Map(
  Object.entries(managementPorts).map(([service, port]) => [String(port), service] as const),
);

/** Pattern of the ID of an object, in any OpenStack service. */
const id = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** Returns the kind of a call, without the object's ID: `GET network /ports/*`. */
export function getCallKind({ method, url, upstream }: SeenCall): string {
  const service = services.get(new URL(upstream).port) ?? upstream;
  const [path = ""] = url.split("?");
  const words = path.split("/").filter((word) => word !== "" && !/^v[\d.]+$/.test(word));
  return `${method} ${service} /${words.map((word) => (id.test(word) ? "*" : word)).join("/")}`;
}

const writes = (call: SeenCall): boolean =>
  call.method !== "GET" && call.method !== "HEAD" && !call.url.includes("/auth/tokens");

/** Returns totals, and the number of calls of each kind in descending order. */
export function countCalls(calls: readonly SeenCall[]): Figures {
  const own = calls.filter((call) => call.own);
  const kinds = new Map<string, number>();
  for (const call of own) kinds.set(getCallKind(call), (kinds.get(getCallKind(call)) ?? 0) + 1);
  return {
    "calls to the cloud": own.length,
    "writes among them": own.filter(writes).length,
    "calls by the cluster's controllers": calls.length - own.length,
    ...Object.fromEntries([...kinds].sort(([, one], [, other]) => other - one)),
  };
}
