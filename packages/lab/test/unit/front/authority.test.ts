import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createFrontCertificate,
  ensureFrontAuthority,
  readFrontAuthorityCertificate,
} from "../../../front/authority.js";
import { listFrontHostNames } from "../../../front/hosts.js";

describe("front authority", () => {
  let folder: string;
  const paths = () => ({ front: join(folder, "front") });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("is created once and then kept", async () => {
    assert.equal(readFrontAuthorityCertificate(paths()), undefined);
    const made = await ensureFrontAuthority(paths());
    assert.equal(await ensureFrontAuthority(paths()), made);
    assert.equal(readFrontAuthorityCertificate(paths()), made);
    assert.ok(new X509Certificate(made).ca);
  });

  it("has a key readable only by its owner", async () => {
    await ensureFrontAuthority(paths());
    assert.equal(statSync(join(folder, "front", "authority.key")).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, "front")).mode & 0o777, 0o700);
  });

  it("is recreated together with its key if the key is missing", async () => {
    const made = await ensureFrontAuthority(paths());
    rmSync(join(folder, "front", "authority.key"));
    assert.equal(readFrontAuthorityCertificate(paths()), undefined);
    assert.notEqual(await ensureFrontAuthority(paths()), made);
  });

  it("signs for every host of the front, and for no other", async () => {
    const { certificate } = await createFrontCertificate(paths());
    const server = new X509Certificate(certificate);
    assert.ok(server.checkIssued(new X509Certificate(await ensureFrontAuthority(paths()))));
    for (const name of listFrontHostNames()) assert.equal(server.checkHost(name), name);
    assert.equal(server.checkHost("example.com"), undefined);
  });
});
