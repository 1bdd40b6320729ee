import assert from "node:assert/strict";
import { withStep } from "../../../../base/progress.js";
import {
  createScreen,
  formatDuration,
  formatStepTime,
  renderOpenSteps,
  type ProgressScreen,
} from "../../../../base/terminal/progress-screen.js";

describe("a duration", () => {
  const table: [number, string][] = [
    [0, "0 s"],
    [499, "0 s"],
    [59_400, "59 s"],
    [60_000, "1 min 00 s"],
    [65_000, "1 min 05 s"],
    [3_600_000, "60 min 00 s"],
  ];
  for (const [milliseconds, text] of table)
    it(`of ${milliseconds} ms is ${text}`, () => {
      assert.equal(formatDuration(milliseconds), text);
    });
});

describe("a live line", () => {
  const step = { title: "Servers", since: 0, expected: 30, detail: "dev-0" };

  it("says what, how long of how long, and the newest detail", () => {
    assert.equal(formatStepTime(step, 12_000), "12 s of about 30 s");
    const [line = ""] = renderOpenSteps([step], 12_000, 80);
    assert.match(line, /^\S Servers {2}12 s of about 30 s {2}dev-0$/);
  });

  it("fits the terminal", () => {
    const [line = ""] = renderOpenSteps([{ ...step, detail: "x".repeat(200) }], 0, 40);
    assert.equal(line.length, 39);
  });

  it("knows no expectation where there is none", () => {
    assert.equal(formatStepTime({ title: "", since: 0, detail: "" }, 1000), "1 s");
  });
});

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

describe("the screen", () => {
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

  describe("that is no terminal", () => {
    beforeEach(() => {
      open(false);
    });

    it("has a plain line for every beginning and end", () => {
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

    it("shows notes as they come", () => {
      screen.note("hello");
      assert.equal(text, "hello\n");
    });

    it("gives a sign of life after 15 s of silence, with the newest detail", async () => {
      screen.step("Servers", 30).update("dev-0");
      now = 16_000;
      await wait(1_100);
      assert.match(text, /\.\.\. Servers: 16 s of about 30 s; dev-0\n$/);
    });

    it("is silent while something is said", async () => {
      screen.step("Servers");
      now = 10_000;
      await wait(1_100);
      assert.equal(text, "> Servers\n");
    });

    it("ends a step once", () => {
      const step = screen.step("Servers");
      step.done();
      step.failed();
      assert.equal(text.split("\n").length, 3);
    });
  });

  describe("that is a terminal", () => {
    beforeEach(() => {
      open(true);
    });

    it("draws what runs and takes it away again before a line that stays", async () => {
      const step = screen.step("Servers", 30);
      await wait(300);
      assert.match(text, /Servers {2}0 s of about 30 s\n/);
      text = "";
      step.done();
      assert.equal(text, "\u001B[1A\u001B[0J+ Servers (0 s)\n");
    });

    it("leaves nothing drawn behind", async () => {
      screen.step("Servers");
      await wait(300);
      text = "";
      screen.close();
      assert.equal(text, "\u001B[1A\u001B[0J");
    });
  });

  it("shows the error of a step that throws, and passes it on", async () => {
    open(false);
    const work = withStep(screen, "Servers", undefined, () => Promise.reject(new Error("no host")));
    await assert.rejects(work, /no host/);
    assert.match(text, /x Servers \(0 s\): no host/);
  });
});
