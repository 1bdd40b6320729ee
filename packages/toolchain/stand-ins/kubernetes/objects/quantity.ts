import type { Json } from "../../plugin/values.js";

const powers: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the amount of a Kubernetes quantity (`500m` is 0.5), or `undefined` for other texts. */
export function parseQuantity(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  const parts = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(
    value,
  );
  if (!parts) return undefined;
  const [, digits = "", exponent, suffix = ""] = parts;
  const scale = exponent === undefined ? (powers[suffix] ?? 1) : 10 ** Number(exponent);
  return Number(digits) * scale;
}

/** Reports whether two values are equal, or different notations of the same quantity. */
export function isSameQuantity(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return (
    left !== undefined && right !== undefined && Math.abs(left - right) <= Math.abs(left) * 1e-12
  );
}

const decimal = ["E", "P", "T", "G", "M", "k", "", "m", "u", "n"];
const binary = ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki", ""];

/**
 * Returns a quantity in Kubernetes' notation, with the largest unit of its family that needs no
 * fraction (`0.5` is `500m`, `1024Mi` is `1Gi`). Returns numbers with exponents, and values that
 * are not quantities, unchanged. Inputs are sent in this form. Otherwise two managers that apply
 * the same amount in different notations would conflict on the server.
 */
export function normalizeQuantity(value: Json): Json {
  const amount = parseQuantity(value);
  const exponent = typeof value === "string" && /[eE][+-]?\d/.test(value);
  if (amount === undefined || exponent) return value;
  if (amount === 0) return "0";
  const isBinary = typeof value === "string" && value.endsWith("i");
  for (const unit of isBinary ? [...binary, "m"] : decimal) {
    const count = amount / (powers[unit] ?? 1);
    const whole = Math.round(count);
    if (whole !== 0 && Math.abs(count - whole) <= Math.abs(count) * 1e-12) {
      return `${whole}${unit}`;
    }
  }
  return value;
}

/** Maps whose values Kubernetes reads as quantities. */
const parents = new Set(["limits", "requests", "capacity", "hard", "overhead", "default"]);

/** Reports whether the value under `key` of the map `parent` is a quantity. */
export const isQuantityAt = (parent: string, key: string): boolean =>
  parents.has(parent) || key === "sizeLimit";
