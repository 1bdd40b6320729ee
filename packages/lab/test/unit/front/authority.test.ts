import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  certifyFront,
  ensureFrontCertificate,
  frontCertificate,
} from "../../../front/authority.js";
import { hostNames } from "../../../front/hosts.js";

describe("lab/front/authority", () => {
  let folder: string;
  const paths = () => ({ front: join(folder, "front") });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("is not there before it is made, and then stays", async () => {
    assert.equal(frontCertificate(paths()), undefined);
    const made = await ensureFrontCertificate(paths());
    assert.equal(await ensureFrontCertificate(paths()), made);
    assert.equal(frontCertificate(paths()), made);
    assert.ok(new X509Certificate(made).ca);
  });

  it("keeps its key to its owner", async () => {
    await ensureFrontCertificate(paths());
    assert.equal(statSync(join(folder, "front", "authority.key")).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, "front")).mode & 0o777, 0o700);
  });

  it("is made again with its key, which a certificate alone is worth nothing without", async () => {
    const made = await ensureFrontCertificate(paths());
    rmSync(join(folder, "front", "authority.key"));
    assert.equal(frontCertificate(paths()), undefined);
    assert.notEqual(await ensureFrontCertificate(paths()), made);
  });

  it("signs for every host of the front, and for no other", async () => {
    const { certificate } = await certifyFront(paths());
    const server = new X509Certificate(certificate);
    assert.ok(server.checkIssued(new X509Certificate(await ensureFrontCertificate(paths()))));
    for (const name of hostNames()) assert.equal(server.checkHost(name), name);
    assert.equal(server.checkHost("example.com"), undefined);
  });
});
