import assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import { BgpPeer, rangesOf, updateOf } from "../../../../test/lab/support/network/bgp-peer.js";

const encode = (ranges: readonly (readonly [number[], number])[]): Buffer =>
  Buffer.concat(
    ranges.map(([bytes, bits]) => Buffer.from([bits, ...bytes.slice(0, Math.ceil(bits / 8))])),
  );
const two = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const message = (kind: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(16, 0xff), two(19 + content.length), Buffer.from([kind]), content]);

describe("BGP peer of the lab", () => {
  it("decodes ranges of every length", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const one = fc.tuple(
      fc.array(byte, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(fc.array(one), (ranges) => {
        const expected = ranges.map(([bytes, bits]) => {
          const sent = bytes.map((value, index) => (index < Math.ceil(bits / 8) ? value : 0));
          return `${sent.join(".")}/${bits.toString()}`;
        });
        assert.deepEqual(rangesOf(encode(ranges)), expected);
      }),
    );
  });

  it("distinguishes withdrawn ranges, announced ranges and attributes", () => {
    const [withdrawn, told] = [encode([[[10, 0, 0, 1], 32]]), encode([[[10, 244, 1, 0], 24]])];
    const attributes = Buffer.from([0x40, 1, 1, 0]);
    const parts = [two(withdrawn.length), withdrawn, two(attributes.length), attributes, told];
    assert.deepEqual(updateOf(Buffer.concat(parts)), {
      withdrawn: ["10.0.0.1/32"],
      told: ["10.244.1.0/24"],
    });
    assert.deepEqual(updateOf(Buffer.alloc(4)), { withdrawn: [], told: [] });
  });

  it("answers each message type, and forgets announced ranges with the session", async () => {
    const peer = new BgpPeer(65001);
    const port = await peer.listen(0, "127.0.0.1");
    const kinds: number[] = [];
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (data) => {
      for (let at = 0; at < data.length; at += data.readUInt16BE(at + 16))
        kinds.push(data.readUInt8(at + 18));
    });
    const soon = async (condition: () => boolean): Promise<void> => {
      for (let turn = 0; turn < 100 && !condition(); turn++)
        await new Promise((done) => setTimeout(done, 20));
      assert.ok(condition());
    };
    const told = encode([[[10, 96, 0, 1], 32]]);
    const update = message(2, Buffer.concat([two(0), two(0), told]));
    const sent = Buffer.concat([message(1, Buffer.alloc(10)), message(4, Buffer.alloc(0)), update]);
    // Sends the messages in parts, as a network may.
    socket.write(sent.subarray(0, 25));
    await soon(() => socket.bytesWritten === 25);
    socket.write(sent.subarray(25));
    await soon(() => peer.told().get("10.96.0.1/32") === 1);
    await soon(() => kinds.length === 3);
    assert.deepEqual(kinds, [1, 4, 4]);
    socket.destroy();
    await soon(() => peer.told().size === 0);
    peer.close();
  });
});
