import assert from "node:assert/strict";
import { silentProgress } from "../../../../../base/progress.js";
import { managementPorts } from "../../../cloud/configuration/common.js";
import {
  listExpectedWorkers,
  findUnreachableApis,
  waitUntilCloudReady,
} from "../../../cloud/readiness.js";
import { startFakeLabCloud, type FakeLabCloud } from "../support/fake-lab-cloud.js";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";

describe("waitUntilCloudReady", () => {
  let host: StubHost;
  let cloud: FakeLabCloud;
  beforeEach(async () => {
    host = new StubHost();
    cloud = await startFakeLabCloud(host.settings);
  });
  afterEach(async () => {
    await cloud.close();
    host.close();
  });

  /**
   * Calls `waitUntilCloudReady`. `then` receives the missing parts, and may provide them or abort.
   */
  const wait = (then: (missing: string, stop: AbortController) => void = () => undefined) => {
    const stop = new AbortController();
    const update = (missing: string) => {
      then(missing, stop);
    };
    return waitUntilCloudReady({
      settings: host.settings,
      password: "admin-word",
      step: { ...silentProgress.step(""), update },
      signal: stop.signal,
    });
  };
  /** Returns the missing parts that the first check reports. */
  const firstLook = async (): Promise<string> => {
    let found = "";
    const waiting = wait((missing, stop) => {
      found = missing;
      stop.abort(new Error("seen"));
    });
    await assert.rejects(waiting);
    assert.notEqual(found, "", "it found everything ready");
    return found;
  };

  it("returns once every API answers and every worker has reported", async () => {
    const said: string[] = [];
    await wait((missing) => void said.push(missing));
    assert.deepEqual(said, []);
  });

  it("requests a resource of every API instead of only connecting", async () => {
    const asked = new Set<string>();
    cloud.onRequest = (request) => asked.add(request.split(" ")[0] ?? "");
    await wait();
    const { identity, compute, network, volume, image, loadBalancer } = managementPorts;
    for (const port of [identity, compute, network, volume, image, loadBalancer]) {
      assert.ok(asked.has(String(port)), String(port));
    }
  });

  it("reports APIs that accept no connection, before it signs in", async () => {
    await cloud.stop(managementPorts.image);
    await cloud.stop(managementPorts.registry);
    cloud.onRequest = () => assert.fail("it asked an API");
    assert.deepEqual(await findUnreachableApis(host.settings), ["glance", "registry"]);
    assert.equal(await firstLook(), "waiting for glance, registry");
  });

  for (const worker of ["nova-conductor", "neutron-l3-agent", "cinder-volume", "backend"]) {
    it(`waits for a ${worker} that has not reported, by name, and continues after the report`, async () => {
      const name = listExpectedWorkers(host.settings).find((one) => one.startsWith(`${worker} `));
      assert.ok(name);
      cloud.silent.add(name);
      let looks = 0;
      await wait((missing) => {
        looks += 1;
        assert.equal(missing, `waiting for ${name}`);
        cloud.silent.delete(name);
      });
      assert.equal(looks, 1);
    });
  }

  it("waits for a worker that reports itself as down", async () => {
    cloud.down.add(`nova-compute ${host.settings.zones[1]?.host ?? ""}`);
    assert.equal(await firstLook(), "waiting for nova-compute labcloud-b");
  });

  it("retries an API that returns an error", async () => {
    cloud.broken.add(managementPorts.loadBalancer);
    await wait((missing) => {
      assert.match(missing, /:9876\/v2\/lbaas\/providers answers 500/);
      cloud.broken.clear();
    });
  });

  it("retries a Keystone that does not know its users yet", async () => {
    cloud.password = "another";
    await wait((missing) => {
      assert.equal(missing, "waiting for keystone answers 401");
      cloud.password = "admin-word";
    });
  });

  it("sends no request after a cancellation", async () => {
    cloud.onRequest = () => assert.fail("it asked an API");
    const signal = AbortSignal.abort(new Error("called off"));
    const step = silentProgress.step("");
    const waiting = waitUntilCloudReady({ settings: host.settings, password: "", step, signal });
    await assert.rejects(waiting, /called off/);
  });
});
