import { connectCloud, type CloudClient } from "../../cloud/client.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "./fake-openstack.js";

/** A project of a small cloud, with nothing in it but what a test puts there. */
export interface EmptyProject extends Pick<FakeCloud, "on" | "seen"> {
  connect(): Promise<CloudClient>;
}

/** Each test of the suite that calls this has one of its own. */
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
