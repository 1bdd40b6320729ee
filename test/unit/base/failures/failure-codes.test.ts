import assert from "node:assert/strict";
import fc from "fast-check";
import { recogniseError } from "../../../../base/failures/failure.js";
import {
  failureCodes,
  isFailureCode,
  getFailureRow,
} from "../../../../base/failures/failure-codes.js";
import { openstackPluginVersions } from "../../../../base/versions/pulumi-openstack-versions.js";
import { refusals } from "../../../support/cloud/cloud-error-texts.js";
import { nonEmpty } from "../../../support/non-empty.js";

const exitCodes: Readonly<Record<number, readonly string[]>> = {
  2: ["INVALID_CONFIG", "INVALID_USAGE", "CLOUD_NOT_CONFIGURED", "WRONG_PASSPHRASE"],
  3: [
    ...["WRONG_PROJECT", "PREFLIGHT_FAILED", "QUOTA_EXCEEDED", "AUTH_FAILED", "FORBIDDEN"],
    ...["CLOUD_UNTRUSTED", "CLOUD_UNREACHABLE"],
  ],
  4: ["STACK_LOCKED"],
  5: ["VERIFY_FAILED"],
  6: ["UNEXPECTED_CHANGES"],
  130: ["CANCELLED"],
};

describe("table of failures", () => {
  it("has sentences that fit into other sentences", () => {
    for (const code of nonEmpty(failureCodes)) {
      assert.match(code, /^[A-Z]+(_[A-Z]+)*$/);
      assert.match(
        getFailureRow(code).sentence,
        /^([a-z]|Nova\b|Kubernetes\b|SSH\b).*[^.:]$/,
        code,
      );
    }
  });

  it("has hints that are complete sentences", () => {
    for (const code of nonEmpty(failureCodes))
      assert.match(getFailureRow(code).hint, /^([A-Z]|`).{10,}\.$/, code);
  });

  it("has no hint that deletes a cluster, because a text proves no loss", () => {
    for (const code of nonEmpty(failureCodes))
      assert.doesNotMatch(getFailureRow(code).hint, /--abandon|`stackadm destroy/, code);
  });

  it("contains each sentence once", () => {
    const sentences = failureCodes.map((code) => getFailureRow(code).sentence);
    assert.equal(new Set(sentences).size, sentences.length);
  });

  it("assigns the exit codes that the command line's help explains", () => {
    for (const [exitCode, codes] of Object.entries(exitCodes))
      assert.deepEqual(
        failureCodes.filter((code) => getFailureRow(code).exitCode === Number(exitCode)),
        codes,
      );
    const listed = Object.values(exitCodes).flat();
    for (const code of failureCodes.filter((one) => !listed.includes(one)))
      assert.equal(getFailureRow(code).exitCode, 1, code);
  });

  it("ends with the code for all other failures", () => {
    assert.equal(failureCodes.at(-1), "FAILED");
  });

  it("accepts exactly its own codes", () => {
    for (const code of failureCodes) assert.ok(isFailureCode(code));
    for (const text of ["", "failed", "toString", "__proto__"]) assert.ok(!isFailureCode(text));
  });
});

/**
 * Words that occur in the patterns and that users may use in names of clusters, pools and classes.
 */
const suggestive = [
  ...["quota", "exceeded", "overquota", "already", "exists", "alreadyexists", "not-found"],
  ...["timed-out-waiting", "not-ready", "loadbalancer", "error", "dial-tcp", "exit-status-1"],
  ...["forbidden", "401", "network", "flavor", "samples", "gold", "knownhosts", "reason"],
];

/** Names that users may give to a cluster, a pool or a storage class. */
const name = fc.oneof(
  fc.constantFrom(...suggestive),
  fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/),
);
const type = fc.constantFrom(
  ...[
    "",
    "openstack:compute/instance:Instance",
    "openstack:loadbalancer/loadBalancer:LoadBalancer",
  ],
  ...["kubernetes:core/v1:Service", "command:remote:Command", "command:local:Command"],
);

describe("errors of the cloud", () => {
  for (const version of openstackPluginVersions)
    for (const { status, code, words } of refusals)
      it(`are recognised as ${code} in the format of OpenStack plugin ${version}: ${String(status)}`, () => {
        const listed = `1 error occurred:\n\t* ${words[version]}\n\n\n`;
        const logged = `  sdk-v2/provider2.go:571: sdk.helper_schema: ${words[version]}: provider=openstack@${version}\n`;
        for (const text of [words[version], listed, logged])
          assert.equal(recogniseError(text, "openstack:networking/secGroup:SecGroup")?.code, code);
      });

  it("are recognised by the response body, on the same or the next line", () => {
    const [first, second] = ["but got 409 instead", '{"NeutronError":{"type":"OverQuota"}}'];
    const of = (text: string) => recogniseError(text, "openstack:networking/port:Port")?.code;
    for (const text of [`${first}\n${second}`, `${first}: ${second}`])
      assert.equal(of(text), "QUOTA_EXCEEDED");
    assert.equal(of(`${first}\n{}\n${second}`), undefined);
    assert.equal(of(first), undefined);
  });
});

describe("errors of other systems", () => {
  it("are not recognised by a name alone", () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 3 }), type, (names, of) => {
        assert.equal(recogniseError(names.map((one) => `"${one}"`).join(", "), of), undefined);
      }),
    );
  });

  it("are not recognised by a URN, which may contain arbitrary names", () => {
    const stack = fc.constantFrom("OverQuota", "AlreadyExists", "ERROR", "401.Unauthorized");
    fc.assert(
      fc.property(stack, name, type, (one, other, of) => {
        const urn = `urn:pulumi:${one}::stackadm::kubernetes:core/v1:Service::${other}-${one}`;
        assert.equal(recogniseError(`resource "${urn}" is odd`, of), undefined);
      }),
    );
  });

  it("are recognised only for resources of the system that reports them", () => {
    const refused = "dial tcp 10.0.0.9:22: connect: connection refused";
    assert.equal(recogniseError(refused, "command:remote:Command")?.code, "SSH_UNREACHABLE");
    const sftp = "ssh: subsystem request failed";
    assert.equal(recogniseError(sftp, "command:remote:CopyToRemote")?.code, "SFTP_MISSING");
    const post = `Post "https://cloud:9696/v2.0/ports": ${refused}`;
    assert.equal(recogniseError(post, "openstack:networking/port:Port")?.code, "CLOUD_UNREACHABLE");
    const get = `Get "https://10.0.0.9:6443/api": ${refused}`;
    assert.equal(recogniseError(get, "kubernetes:core/v1:Service")?.code, "KUBERNETES_UNREACHABLE");
    assert.equal(recogniseError(refused, "random:index/pet:Pet"), undefined);
  });

  it("are recognised as a server in ERROR only for servers", () => {
    const text = "error waiting for x: unexpected state 'ERROR', wanted target 'ACTIVE'";
    assert.equal(recogniseError(text, "openstack:compute/instance:Instance")?.code, "SERVER_ERROR");
    const balancer = "openstack:loadbalancer/loadBalancer:LoadBalancer";
    assert.equal(recogniseError(text, balancer)?.code, "LOAD_BALANCER_ERROR");
    assert.equal(recogniseError(text, "openstack:blockstorage/volume:Volume"), undefined);
  });

  it("are quoted from the matching part, without wrapping messages", () => {
    assert.equal(
      recogniseError("rpc error: error creating: Quota exceeded for cores: 20 of 20", "")?.words,
      "Quota exceeded for cores: 20 of 20",
    );
  });
});
