import { Transform, type TransformCallback } from "node:stream";

/** Passes on the bytes after the first line that ends with a text. Drops all bytes before. */
export class AfterLine extends Transform {
  /** Bytes before the end of the line. Undefined after the line. */
  #before: Buffer | undefined = Buffer.alloc(0);

  constructor(readonly line: string) {
    super();
  }

  /** Whether the line has been received. */
  get hasBegun(): boolean {
    return this.#before === undefined;
  }

  override _transform(part: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (this.#before === undefined) {
      done(null, part);
      return;
    }
    const end = `${this.line}\n`;
    const received = Buffer.concat([this.#before, part]);
    const at = received.indexOf(end);
    if (at < 0) {
      // Keeps as many bytes as a part of the line can have.
      this.#before = received.subarray(-end.length);
      done();
      return;
    }
    this.#before = undefined;
    done(null, received.subarray(at + end.length));
  }
}
