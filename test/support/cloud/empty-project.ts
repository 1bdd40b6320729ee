import { connectCloud, type CloudClient } from "../../../openstack/client/cloud-client.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "./fake-openstack.js";

/** Project in a small cloud that contains only the objects that the test adds. */
export interface EmptyProject extends Pick<FakeCloud, "on" | "seen"> {
  connect(): Promise<CloudClient>;
}

/** Creates a new empty project before each test of the mocha suite that calls this function. */
export function projectOfEach(): EmptyProject {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
  });
  afterEach(() => cloud.close());
  return {
    get seen() {
      return cloud.seen;
    },
    on: (route, answer) => {
      cloud.on(route, answer);
    },
    connect: () => connectCloud({ env: cloud.environment() }),
  };
}
