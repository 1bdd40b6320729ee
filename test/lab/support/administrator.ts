import { silent } from "../../../base/progress.js";
import { connectCloud, type CloudClient } from "../../../cloud/client.js";
import { adminCloudName } from "../../../lab/facts.js";
import { labUp } from "../../../lab/lab.js";
import { labSettings } from "../../../lab/settings.js";

/** The lab's cloud as its administrator sees it, in a project of their own: for what a cloud's operator makes for others. */
export async function administrator(): Promise<CloudClient> {
  const { adminCloudsFile } = await labUp({ progress: silent });
  const env = { OS_CLIENT_CONFIG_FILE: adminCloudsFile, OS_CLOUD: adminCloudName(labSettings()) };
  return connectCloud({ env });
}
