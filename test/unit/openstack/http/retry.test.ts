import assert from "node:assert/strict";
import type { HttpAnswer } from "../../../../openstack/http/http-exchange.js";
import {
  defaultRetryClock,
  parseRetryAfter,
  maximumTries,
  retryRequest,
  type RequestOutcome,
} from "../../../../openstack/http/retry.js";

const answer = (status: number, headers: Readonly<Record<string, string>> = {}): HttpAnswer => ({
  status,
  headers,
  body: "",
});
const broken = (code: string): Error => Object.assign(new Error(code), { code });

/** Sends a request with these answers, the last one for all further attempts. */
async function ask(
  answers: readonly (HttpAnswer | Error)[],
  { repeatable = true, random = 1 } = {},
): Promise<{ outcome: RequestOutcome; times: number; waits: number[]; said: string[] }> {
  const [waits, said]: [number[], string[]] = [[], []];
  let asked = 0;
  const send = (): Promise<HttpAnswer> => {
    const next = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    assert.ok(next);
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const tried = await retryRequest(
    send,
    { what: "GET compute /servers", repeatable },
    {
      pause: (milliseconds) => Promise.resolve(waits.push(milliseconds)),
      random: () => random,
      now: () => Date.parse("2026-01-01T00:00:00Z"),
      onWait: (text) => said.push(text),
    },
  );
  assert.equal(tried.times, asked);
  return { ...tried, waits, said };
}

describe("retryRequest after a stop request", () => {
  const options = { what: "GET compute /servers", repeatable: true };
  const busy = answer(503, { "retry-after": "60" });

  it("ends the wait that the cloud requested, and returns the last answer", async () => {
    const stop = new AbortController();
    const clock = { ...defaultRetryClock, signal: stop.signal };
    const onWait = (): void => {
      setImmediate(() => {
        stop.abort();
      });
    };
    const began = Date.now();
    const tried = await retryRequest(() => Promise.resolve(busy), options, { ...clock, onWait });
    assert.deepEqual(tried, { outcome: { answer: busy }, times: 1 });
    assert.ok(Date.now() - began < 30_000);
  });

  it("sends a request only once", async () => {
    const clock = { ...defaultRetryClock, signal: AbortSignal.abort() };
    const tried = await retryRequest(() => Promise.resolve(busy), options, clock);
    assert.deepEqual(tried, { outcome: { answer: busy }, times: 1 });
  });
});

describe("retryRequest", () => {
  it("doubles the delay each time, for five tries", async () => {
    const { outcome, waits } = await ask([answer(503)]);
    assert.deepEqual(outcome, { answer: answer(503) });
    assert.deepEqual(waits, [1000, 2000, 4000, 8000]);
    assert.equal(waits.length, maximumTries - 1);
  });

  it("reduces the delay randomly to at least half, so that clients do not retry at the same time", async () => {
    assert.deepEqual((await ask([answer(503)], { random: 0 })).waits, [500, 1000, 2000, 4000]);
    assert.deepEqual((await ask([answer(503), answer(200)], { random: 0.5 })).waits, [750]);
  });

  it("reports the reason before it waits", async () => {
    const { said } = await ask([answer(429), broken("ECONNRESET"), answer(200)]);
    assert.deepEqual(said, [
      "GET compute /servers: the cloud answered 429; attempt 2 of 5 follows in 1 s.",
      "GET compute /servers: the connection broke; attempt 3 of 5 follows in 2 s.",
    ]);
  });

  it("waits at least as long as the cloud requests and as its own delay", async () => {
    for (const [asked, waited] of [
      ["7", 7000],
      ["0", 1000],
      ["Thu, 01 Jan 2026 00:00:20 GMT", 20_000],
      ["Wed, 31 Dec 2025 23:00:00 GMT", 1000],
      ["soon", 1000],
    ] as const)
      assert.deepEqual(
        (await ask([answer(429, { "retry-after": asked }), answer(200)])).waits,
        [waited],
        asked,
      );
  });

  it("does not wait if the cloud requests more than a minute", async () => {
    const { waits, times } = await ask([answer(429, { "retry-after": "61" })]);
    assert.deepEqual([waits, times], [[], 1]);
    assert.equal(parseRetryAfter(answer(429, { "retry-after": "61" }), 0), 61_000);
  });

  /** Answer, and the number of attempts for repeatable and for other requests. */
  const table: readonly [HttpAnswer | Error, number, number][] = [
    ...[429, 503].map((status) => [answer(status), 5, 5] as [HttpAnswer, number, number]),
    ...[500, 502, 504].map((status) => [answer(status), 5, 1] as [HttpAnswer, number, number]),
    ...[200, 400, 401, 403, 404, 409, 413, 501].map(
      (status) => [answer(status), 1, 1] as [HttpAnswer, number, number],
    ),
    ...["ECONNRESET", "EPIPE"].map((code) => [broken(code), 5, 1] as [Error, number, number]),
    ...["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "CERT_HAS_EXPIRED"].map(
      (code) => [broken(code), 1, 1] as [Error, number, number],
    ),
  ];
  for (const [ending, idempotent, other] of table) {
    const name = ending instanceof Error ? ending.message : String(ending.status);
    it(`tries ${idempotent} times after ${name}, and ${other} times if the request is not idempotent`, async () => {
      assert.equal((await ask([ending])).times, idempotent);
      assert.equal((await ask([ending], { repeatable: false })).times, other);
    });
  }
});
