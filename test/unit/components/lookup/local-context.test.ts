import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localContextOf } from "../../../../components/lookup/local-context.js";
import { fakeProject, startFakeCloud } from "../../../support/cloud/fake-openstack.js";

describe("localContextOf", () => {
  it("signs in to exactly the cloud that the environment names", async () => {
    const cloud = await startFakeCloud();
    try {
      const { connect } = localContextOf(cloud.environment());
      assert.equal((await connect()).projectId, fakeProject);
      assert.equal(cloud.seen.length, 1);
    } finally {
      await cloud.close();
    }
    const unconfigured = localContextOf({ HOME: "/nowhere" });
    await assert.rejects(unconfigured.connect());
    assert.equal(unconfigured.agentSocket, undefined);
    const { files } = localContextOf({ XDG_CACHE_HOME: "/c" });
    assert.deepEqual(files, {
      directory: undefined,
      cache: "/c/stackadm/manifests",
      proxies: {},
    });
  });

  it("returns the cloud's own authority and client certificate, and neither for a cloud without them", () => {
    const directory = mkdtempSync(join(tmpdir(), "operator-"));
    try {
      const file = join(directory, "ca.pem");
      writeFileSync(file, "-----BEGIN CERTIFICATE-----\n");
      const cloud = {
        OS_AUTH_URL: "https://cloud.example/v3",
        OS_USERNAME: "demo",
        OS_PASSWORD: "demo",
        OS_PROJECT_NAME: "demo",
      };
      assert.equal(localContextOf(cloud).caCertificate, undefined);
      const { caCertificate } = localContextOf({ ...cloud, OS_CACERT: file });
      assert.equal(caCertificate, "-----BEGIN CERTIFICATE-----\n");
      const pair = { OS_CERT: file, OS_KEY: file };
      const { clientCertificate } = localContextOf({ ...cloud, ...pair });
      assert.deepEqual(clientCertificate, {
        certificate: caCertificate,
        privateKey: caCertificate,
      });
      assert.equal(localContextOf(cloud).clientCertificate, undefined);
      assert.throws(
        () => localContextOf({ ...cloud, OS_CACERT: `${file}.no` }),
        /it does not exist/,
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
