/** What most texts look like that stand for something: there are thousands of them. */
const usual = /^(?:ref\.[\w-]+\.\w+|198\.18\.\d+\.\d+)$/;

/**
 * What Terraform knows only later, as the program sees it: a word, a number or an address that can be one, so that the program's own
 * checks and documents work with it. In what comes out of the program each is an expression again.
 */
export class References {
  readonly #expressions = new Map<string, string>();
  /** Patterns of texts that do not look like one that stands for something. */
  readonly #others = new Set<string>();
  #addresses = 0;
  #pattern: RegExp | undefined;

  /** Has `text` stand for the expression from now on. */
  stand(text: string, expression: string): string {
    this.#expressions.set(text, expression);
    if (!usual.test(text)) this.#others.add(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.#pattern = undefined;
    return text;
  }

  /** An address that stands for it, of a network that is for benchmarks alone (RFC 2544). */
  address(expression: string): string {
    this.#addresses += 1;
    const [high, low] = [this.#addresses >> 8, this.#addresses & 255];
    return this.stand(`198.18.${String(high)}.${String(low)}`, expression);
  }

  /** Finds what may stand for something, but not in the middle of a number or of base64. */
  #search(): RegExp {
    const any = [usual.source.slice(1, -1), ...this.#others].join("|");
    return new RegExp(`(?<![\\w+])(?:${any})(?![\\w+])`, "g");
  }

  /** Terraform's template of a text. */
  template(text: string): string {
    this.#pattern ??= this.#search();
    const found = text.replace(/[$%](?=\{)/g, "$&$&").replace(this.#pattern, (one) => {
      const expression = this.#expressions.get(one);
      return expression === undefined ? one : `\${${expression}}`;
    });
    const [lost] = /ref\.[\w-]+\.\w+/.exec(found) ?? [];
    if (lost !== undefined) throw new Error(`${lost} stands for nothing that Terraform knows.`);
    return found;
  }

  /** The value with each text in it as Terraform's template. */
  render(value: unknown): unknown {
    if (typeof value === "string") return this.template(value);
    if (typeof value === "number")
      return this.#expressions.has(String(value)) ? this.template(String(value)) : value;
    if (Array.isArray(value)) return value.map((one) => this.render(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.render(one)]));
  }
}
