import assert from "node:assert/strict";
import { withStep } from "../../../../base/progress.js";
import {
  createScreen,
  formatDuration,
  formatStepTime,
  renderOpenSteps,
  type ProgressScreen,
} from "../../../../base/terminal/progress-screen.js";

describe("formatDuration", () => {
  const table: [number, string][] = [
    [0, "0 s"],
    [499, "0 s"],
    [59_400, "59 s"],
    [60_000, "1 min 00 s"],
    [65_000, "1 min 05 s"],
    [3_600_000, "60 min 00 s"],
  ];
  for (const [milliseconds, text] of table)
    it(`formats ${milliseconds} ms as ${text}`, () => {
      assert.equal(formatDuration(milliseconds), text);
    });
});

describe("live line", () => {
  const step = { title: "Servers", since: 0, expected: 30, detail: "dev-0" };

  it("shows title, elapsed and expected time, and the latest detail", () => {
    assert.equal(formatStepTime(step, 12_000), "12 s of about 30 s");
    const [line = ""] = renderOpenSteps([step], 12_000, 80);
    assert.match(line, /^\S Servers {2}12 s of about 30 s {2}dev-0$/);
  });

  it("is cut to the terminal's width", () => {
    const [line = ""] = renderOpenSteps([{ ...step, detail: "x".repeat(200) }], 0, 40);
    assert.equal(line.length, 39);
  });

  it("shows no expected time without an expectation", () => {
    assert.equal(formatStepTime({ title: "", since: 0, detail: "" }, 1000), "1 s");
  });
});

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

describe("screen", () => {
  let text: string;
  let now: number;
  let screen: ProgressScreen;
  const open = (isTTY: boolean): void => {
    text = "";
    now = 0;
    screen = createScreen({
      write: (part) => {
        text += part;
      },
      isTTY,
      columns: 80,
      now: () => now,
    });
  };
  afterEach(() => {
    screen.close();
  });

  describe("without a terminal", () => {
    beforeEach(() => {
      open(false);
    });

    it("prints a plain line for every begin and end", () => {
      const step = screen.step("Servers", 30);
      now = 12_000;
      step.update("dev-0");
      step.done("3 resources");
      const other = screen.step("Workers");
      other.failed();
      assert.equal(
        text,
        "> Servers (about 30 s)\n+ Servers (12 s): 3 resources\n> Workers\nx Workers (0 s)\n",
      );
    });

    it("prints notes immediately", () => {
      screen.note("hello");
      assert.equal(text, "hello\n");
    });

    it("prints a status line with the latest detail after 15 s of silence", async () => {
      screen.step("Servers", 30).update("dev-0");
      now = 16_000;
      await wait(1_100);
      assert.match(text, /\.\.\. Servers: 16 s of about 30 s; dev-0\n$/);
    });

    it("prints no status line while other output appears", async () => {
      screen.step("Servers");
      now = 10_000;
      await wait(1_100);
      assert.equal(text, "> Servers\n");
    });

    it("ends a step only once", () => {
      const step = screen.step("Servers");
      step.done();
      step.failed();
      assert.equal(text.split("\n").length, 3);
    });
  });

  describe("on a terminal", () => {
    beforeEach(() => {
      open(true);
    });

    it("redraws running steps and erases them before a permanent line", async () => {
      const step = screen.step("Servers", 30);
      await wait(300);
      assert.match(text, /Servers {2}0 s of about 30 s\n/);
      text = "";
      step.done();
      assert.equal(text, "\u001B[1A\u001B[0J+ Servers (0 s)\n");
    });

    it("leaves no drawn line after its end", async () => {
      screen.step("Servers");
      await wait(300);
      text = "";
      screen.close();
      assert.equal(text, "\u001B[1A\u001B[0J");
    });
  });

  it("shows the error of a step that throws, and rethrows the error", async () => {
    open(false);
    const work = withStep(screen, "Servers", undefined, () => Promise.reject(new Error("no host")));
    await assert.rejects(work, /no host/);
    assert.match(text, /x Servers \(0 s\): no host/);
  });
});
