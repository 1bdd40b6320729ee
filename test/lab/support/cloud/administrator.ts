import { silentProgress } from "../../../../base/progress.js";
import { connectCloud, type CloudClient } from "../../../../openstack/client/cloud-client.js";
import { getAdminCloudName } from "../../../../packages/lab/facts.js";
import { labUp } from "../../../../packages/lab/lab.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";

/**
 * Returns a client of the lab's cloud that is signed in as administrator, in a separate project. It
 * can create objects that only cloud operators can create.
 */
export async function administrator(): Promise<CloudClient> {
  const { adminCloudsFile } = await labUp({ progress: silentProgress });
  const env = {
    OS_CLIENT_CONFIG_FILE: adminCloudsFile,
    OS_CLOUD: getAdminCloudName(readLabSettings()),
  };
  return connectCloud({ env });
}
