import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBgpWatch } from "../../components/pod-network/kube-router/bgp-watch.js";

/** Addresses as in /proc/net/tcp: 10.0.0.5, 10.0.0.7 and 10.0.0.9. */
const [here, peer, other] = ["0500000A", "0700000A", "0900000A"];
const bgp = "00B3";
const established = "01";

type Connection = readonly [local: string, remote: string, state?: string, unread?: number];

const tableOf = (connections: readonly Connection[]): string =>
  [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
    ...connections.map(([local, remote, state = established, unread = 0], index) => {
      const queue = unread.toString(16).toUpperCase().padStart(8, "0");
      return `   ${index.toString()}: ${local} ${remote} ${state} 00000000:${queue} 00:00000000 00000000     0`;
    }),
    "",
  ].join("\n");

const incoming: Connection = [`${here}:${bgp}`, `${peer}:A002`];
const outgoing: Connection = [`${here}:A001`, `${peer}:${bgp}`];
/** The peer's KEEPALIVE (19 bytes) waits on the connection that kube-router does not read. */
const unread: Connection = [`${here}:A001`, `${peer}:${bgp}`, established, 19];
const stuck = [incoming, unread];
const reversed = ([local, remote, state, length]: Connection): Connection => [
  remote,
  local,
  state,
  length,
];

describe("the watch of BGP connections", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-bgp-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  /**
   * Runs the watch. Check number n finds the n-th list of connections. Returns what the watch did
   * after each check.
   */
  const watch = (...lists: (readonly Connection[])[]): string => {
    const [table, log] = [join(directory, "tcp"), join(directory, "log")];
    writeFileSync(log, "");
    lists.forEach((list, index) => {
      writeFileSync(`${table}.${(index + 1).toString()}`, tableOf(list));
    });
    const script = [
      "check=0",
      `sleep() { check=$((check + 1)); cp ${table}.$check ${table} && echo $check >>${log}; }`,
      `kill() { echo "kill $*" >>${log}; }`,
      buildBgpWatch(table).replaceAll("/proc/1/fd/2", join(directory, "message")),
      "wait",
    ].join("\n");
    const { status, stderr } = spawnSync("sh", ["-ec", script], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return readFileSync(log, "utf8").trim().split("\n").join(" ");
  };

  it("ends kube-router if a message waits on one of two connections in four checks in a row", () => {
    assert.equal(watch(stuck, stuck, stuck, stuck, stuck), "1 2 3 4 kill 1 5");
    assert.match(
      readFileSync(join(directory, "message"), "utf8"),
      /^stackadm: kube-router restarts/,
    );
  });

  it("keeps kube-router on the node whose address comes second", () => {
    const mirrored = stuck.map(reversed);
    assert.equal(watch(mirrored, mirrored, mirrored, mirrored), "1 2 3 4");
  });

  it("keeps kube-router if nothing waits on the second connection", () => {
    const working = [incoming, outgoing];
    assert.equal(watch(working, working, working, working), "1 2 3 4");
  });

  it("keeps kube-router if a message waits on the only connection", () => {
    assert.equal(watch([unread], [unread], [unread], [unread]), "1 2 3 4");
  });

  it("keeps kube-router if a second connection is closed soon", () => {
    assert.equal(watch(stuck, stuck, [outgoing], stuck, stuck, stuck), "1 2 3 4 5 6");
  });

  it("accepts one connection to each peer, closed connections, and other ports", () => {
    const healthy: Connection[] = [
      outgoing,
      [`${here}:${bgp}`, `${other}:A003`],
      [`${here}:A004`, `${peer}:${bgp}`, "06"],
      [`${here}:A005`, `${peer}:192B`],
      [`${here}:A006`, `${peer}:192B`],
    ];
    assert.equal(watch(healthy, healthy, healthy, healthy), "1 2 3 4");
  });

  it("keeps kube-router if the list of connections cannot be read", () => {
    const script = buildBgpWatch(join(directory, "missing"));
    const bounded = `n=0; sleep() { n=$((n + 1)); [ $n -le 5 ]; }; kill() { echo killed >${directory}/killed; }`;
    spawnSync("sh", ["-ec", `${bounded}\n${script}\nwait`]);
    assert.throws(() => readFileSync(join(directory, "killed")), /ENOENT/);
  });
});
