import type { CloudClient } from "../client/cloud-client.js";
import { CloudError } from "../http/cloud-error.js";

/**
 * Requests the deletion of a server at once. In a cloud with soft deletion, a server that is deleted
 * without force keeps its ports and volumes in use until Nova reclaims it.
 *
 * @param path path of the server in Nova
 */
export async function deleteServer(client: CloudClient, path: string): Promise<void> {
  try {
    await client.request("compute", "POST", `${path}/action`, { forceDelete: null });
  } catch (error) {
    // A server that is being created answers 409, and the caller tries again. Otherwise the cloud's
    // policy may forbid the action, or its answer was lost. The client repeats a DELETE.
    if (!(error instanceof CloudError) || error.kind === "conflict") throw error;
    await client.request("compute", "DELETE", path);
  }
}
