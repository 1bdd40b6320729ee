import { strict as assert } from "node:assert";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";

describe("the time limit of sendHttpRequest", () => {
  let server: Server;
  let address: string;
  let answer: (write: (part: string) => void, end: () => void) => void;
  before(async () => {
    server = createServer((_, response) => {
      answer(
        (part) => response.write(part),
        () => response.end(),
      );
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const expired = { code: "ETIMEDOUT" };

  it("ends a request without an answer", async () => {
    answer = () => undefined;
    await assert.rejects(sendHttpRequest(address, { timeout: 50 }), expired);
  });

  it("starts again with each part of the answer", async () => {
    answer = (write, end) => {
      let parts = 0;
      const timer = setInterval(() => {
        write("a");
        if (++parts < 4) return;
        clearInterval(timer);
        end();
      }, 200);
    };
    const { body } = await sendHttpRequest(address, { timeout: 500 });
    assert.equal(body, "aaaa");
  });

  it("ends an answer that never ends after ten times the limit", async () => {
    let timer: NodeJS.Timeout | undefined;
    answer = (write) => {
      timer = setInterval(write, 10, "a");
    };
    try {
      await assert.rejects(sendHttpRequest(address, { timeout: 100 }), expired);
    } finally {
      clearInterval(timer);
    }
  });
});
