/** Renders a loop that restarts kube-router if a BGP session cannot be established (pure function). */

/** Port of BGP (179) in /proc/net/tcp. */
const bgpPort = "00B3";

/** Seconds between two checks, and checks in a row that must fail. */
const interval = 5;
const failures = 4;

/**
 * Returns a POSIX shell command that runs in the background of the container until the container
 * ends. It ends kube-router if, in several checks in a row, two BGP connections to the same peer are
 * open and kube-router does not read from one of them. kubelet then starts kube-router again, and
 * the other nodes keep their routes meanwhile.
 *
 * If two nodes connect to each other at the same time, GoBGP 4.5 to 4.8 may use one connection on
 * one node and the other connection on the other node. Each node then waits for a message on its
 * connection, the message arrives on the connection that it does not read, and neither gets a route
 * to the pods of the other node, without a limit in time. GoBGP may also leave a second connection
 * open next to a working session, but then no message waits on it. Of both nodes, only the node
 * whose address comes first restarts.
 *
 * @param table path of the kernel's list of TCP connections
 */
export function buildBgpWatch(table = "/proc/net/tcp"): string {
  // The state 01 is ESTABLISHED. The number after the colon in column 5 is the length of the received
  // data that waits to be read. The added "" makes awk compare the addresses as text.
  const check = [
    '$4 == "01" { split($2, here, ":"); split($3, peer, ":")',
    `if ((here[2] == "${bgpPort}" || peer[2] == "${bgpPort}") && here[1] "" < peer[1] "") { open[peer[1]]++; if ($5 !~ /:0+$/) waiting[peer[1]] = 1 } }`,
    "END { for (address in waiting) if (open[address] > 1) print address }",
  ].join("; ");
  const message =
    "stackadm: kube-router restarts, because a BGP session is stuck between two connections";
  return [
    "( failed=0",
    `while sleep ${interval.toString()}; do`,
    // If awk fails, the output is empty, and kube-router keeps running.
    `if [ -z "$(awk '${check}' ${table})" ]; then failed=0; else failed=$((failed + 1)); fi`,
    `if [ "$failed" -ge ${failures.toString()} ]; then`,
    `failed=0; echo '${message}' >/proc/1/fd/2 || :; kill 1`,
    "fi",
    "done ) </dev/null >/dev/null 2>&1 &",
  ].join("\n");
}
