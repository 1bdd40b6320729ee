import { strict as assert } from "node:assert";
import { parse } from "yaml";
import {
  renderEncryptionFiles,
  getEncryptionFlags,
} from "../../../../components/kubeadm/secrets-encryption.js";
import { deriveEncryptionKey } from "../../../../components/identity/derive-encryption-key.js";

const seed = Buffer.alloc(32, 7).toString("base64");
const key = deriveEncryptionKey(seed);
const kubernetes = { apiServer: { extraArgs: {} }, encryptionKey: key };

const providers = (encoded: string): string[] => {
  const { resources } = parse(Buffer.from(encoded, "base64").toString()) as {
    resources: { resources: string[]; providers: object[] }[];
  };
  assert.deepEqual(resources[0]?.resources, ["secrets"]);
  return resources[0].providers.flatMap((one) => Object.keys(one));
};

describe("encryption of Secrets", () => {
  it("derives a 32-byte key from the seed, which differs for another seed", () => {
    assert.equal(Buffer.from(key, "base64").length, 32);
    assert.equal(deriveEncryptionKey(seed), key);
    assert.notEqual(deriveEncryptionKey(Buffer.alloc(32, 8).toString("base64")), key);
    assert.throws(() => deriveEncryptionKey("c2hvcnQ="), /too short/);
  });

  it("renders two files under one name: one writes encrypted Secrets first, the other plain ones", () => {
    const [digest = "", encrypts = "", plain = ""] = renderEncryptionFiles(kubernetes).split(" ");
    assert.match(digest, /^[0-9a-f]{12}$/);
    assert.deepEqual(providers(encrypts), ["secretbox", "identity"]);
    assert.deepEqual(providers(plain), ["identity", "secretbox"]);
    assert.deepEqual(getEncryptionFlags(kubernetes), {
      "encryption-provider-config": `/etc/kubernetes/stackadm-encryption/${digest}.yaml`,
      "encryption-provider-config-automatic-reload": true,
    });
  });

  it("renames the file for another key, which restarts the API server, without revealing the key", () => {
    const other = { ...kubernetes, encryptionKey: Buffer.alloc(32, 9).toString("base64") };
    assert.notDeepEqual(getEncryptionFlags(other), getEncryptionFlags(kubernetes));
    assert.ok(!JSON.stringify(getEncryptionFlags(kubernetes)).includes(key));
  });

  it("leaves a file that the user names alone, and is off without a key", () => {
    const extraArgs = { "encryption-provider-config": "/etc/mine.yaml" };
    for (const none of [
      { ...kubernetes, apiServer: { extraArgs } },
      { apiServer: { extraArgs: {} } },
    ]) {
      assert.equal(getEncryptionFlags(none), undefined);
      assert.equal(renderEncryptionFiles(none), "");
    }
  });
});
