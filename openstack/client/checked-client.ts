import type { CloudClient } from "./cloud-client.js";

/**
 * Returns a client that calls `requireAllowed` before each request that changes the cloud. The
 * request is not sent if `requireAllowed` throws.
 */
export function checkBeforeChanges(
  cloud: CloudClient,
  requireAllowed: () => Promise<void>,
): CloudClient {
  const request: CloudClient["request"] = async (service, method, path, body) => {
    if (method !== "GET") await requireAllowed();
    return cloud.request(service, method, path, body);
  };
  // The client is an object of a class, so a copy of its fields would lose its methods.
  return Object.create(cloud, { request: { value: request } }) as CloudClient;
}
