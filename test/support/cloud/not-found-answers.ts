/** Bodies of a 404 response, in the form of each service. `message` is the service's sentence. */
const forms: Readonly<Record<string, (message: string) => unknown>> = {
  network: (message) => ({ NeutronError: { type: "NotFound", message, detail: "" } }),
  "load-balancer": (faultstring) => ({ faultcode: "Client", faultstring, debuginfo: null }),
  image: (message) => ({
    message: `${message}<br /><br />`,
    code: "404 Not Found",
    title: "Not Found",
  }),
  identity: (message) => ({ error: { code: 404, message, title: "Not Found" } }),
};

/** Returns the body with which the service of a fake cloud's path answers 404. */
export function notFoundBody(path: string, message: string): unknown {
  const form = forms[path.split("/")[1] ?? ""];
  return form?.(message) ?? { itemNotFound: { code: 404, message } };
}
