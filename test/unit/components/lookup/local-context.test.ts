import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ProviderSettings } from "../../../../openstack/auth/provider-settings.js";
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

  it("signs in to the cloud of the provider's settings, and not to the cloud of the environment", async () => {
    const [ours, other] = await Promise.all([startFakeCloud(), startFakeCloud()]);
    try {
      const { OS_PASSWORD: password, ...variables } = ours.environment();
      const provider: ProviderSettings = {
        authUrl: variables["OS_AUTH_URL"] ?? "",
        userName: "demo",
        tenantName: "demo",
        region: "one",
        password: password ?? "",
      };
      const args: openstack.ProviderArgs = provider;
      assert.equal(args.authUrl, provider.authUrl);
      await localContextOf({}, provider).connect();
      await localContextOf(other.environment(), provider).connect();
      assert.deepEqual([ours.seen.length, other.seen.length], [2, 0]);
      assert.throws(
        () => localContextOf(other.environment(), { authUrl: provider.authUrl ?? "" }),
        /openstack:authUrl is .*, but OS_PASSWORD, .* belong to/,
      );
      assert.deepEqual([ours.seen.length, other.seen.length], [2, 0]);
    } finally {
      await Promise.all([ours.close(), other.close()]);
    }
  });

  it("signs in to the cloud of the stack's configuration if the caller names no settings", async () => {
    const [ours, other] = await Promise.all([startFakeCloud(), startFakeCloud()]);
    const env = ours.environment();
    try {
      pulumi.runtime.setAllConfig({
        "openstack:authUrl": env["OS_AUTH_URL"] ?? "",
        "openstack:applicationCredentialId": "i",
        "openstack:applicationCredentialSecret": "s",
        "openstack:region": "one",
      });
      await localContextOf({ OS_REGION_NAME: "two" }).connect();
      assert.deepEqual([ours.seen.length, other.seen.length], [1, 0]);
      await localContextOf(other.environment(), {}).connect();
      assert.deepEqual([ours.seen.length, other.seen.length], [1, 1]);
    } finally {
      pulumi.runtime.setAllConfig({});
      await Promise.all([ours.close(), other.close()]);
    }
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
      assert.equal(localContextOf(cloud, { cacertFile: file }).caCertificate, caCertificate);
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
