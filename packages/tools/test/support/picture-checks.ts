import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import {
  renderPicture,
  type Area,
  type Box,
  type Label,
  type Line,
  type Picture,
  type Point,
} from "../../documentation/pictures/svg.js";
import { estimateTextWidth } from "../../documentation/pictures/text-width.js";

/* Properties of a picture that a reader would notice. Each function returns what is wrong. */

const isBox = (shape: Picture["shapes"][number]): shape is Box => shape.kind === "box";
const isLabel = (shape: Picture["shapes"][number]): shape is Label => shape.kind === "label";
const isLine = (shape: Picture["shapes"][number]): shape is Line => shape.kind === "line";

const rightOf = ({ x, width }: Area): number => x + width;
const bottomOf = ({ y, height }: Area): number => y + height;

/** Tolerance in pixels, because places are sums of fractions. */
const tolerance = 0.01;

const overlap = (one: Area, other: Area): boolean =>
  one.x < rightOf(other) - tolerance &&
  other.x < rightOf(one) - tolerance &&
  one.y < bottomOf(other) - tolerance &&
  other.y < bottomOf(one) - tolerance;

const contains = (outer: Area, inner: Area): boolean =>
  outer.x <= inner.x + tolerance &&
  outer.y <= inner.y + tolerance &&
  rightOf(outer) >= rightOf(inner) - tolerance &&
  bottomOf(outer) >= bottomOf(inner) - tolerance;

const pairs = <T>(all: readonly T[]): (readonly [T, T])[] =>
  all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const));

/** Returns the area of a text, from the top of its capitals to the bottom of its letters. */
function areaOf({ x, y, text, size = 12, bold = false, anchor = "start" }: Label): Area {
  const width = estimateTextWidth(text, size, bold);
  const before = { start: 0, middle: width / 2, end: width }[anchor];
  return { x: x - before, y: y - size * 0.75, width, height: size };
}

const shown = ({ x, y, width, height }: Area): string =>
  [x, y, width, height].map((value) => value.toFixed(1)).join(" ");

/** Returns the pairs of boxes that overlap, although neither contains the other. */
export const findOverlappingBoxes = ({ shapes }: Picture): readonly string[] =>
  pairs(shapes.filter(isBox))
    .filter(([one, other]) => overlap(one, other) && !contains(one, other) && !contains(other, one))
    .map(([one, other]) => `${shown(one)} overlaps ${shown(other)}`);

/** Returns the texts that leave the picture, or the smallest box in which their middle is. */
export const findTextsOutside = ({ shapes, width, height }: Picture): readonly string[] =>
  shapes.filter(isLabel).flatMap((label) => {
    const area = areaOf(label);
    const middle = { ...area, x: area.x + area.width / 2, y: label.y - 3, width: 0, height: 0 };
    const around = [{ x: 0, y: 0, width, height }, ...shapes.filter(isBox)]
      .filter((box) => contains(box, middle))
      .sort((one, other) => one.width * one.height - other.width * other.height);
    const [box] = around;
    return box && contains(box, area) ? [] : [`"${label.text}" leaves its box`];
  });

/** Returns the pairs of texts that overlap. */
export const findOverlappingTexts = ({ shapes }: Picture): readonly string[] =>
  pairs(shapes.filter(isLabel))
    .filter(([one, other]) => overlap(areaOf(one), areaOf(other)))
    .map(([one, other]) => `"${one.text}" overlaps "${other.text}"`);

/** Returns points on a line that are close to each other. */
function pointsOn({ points, curved = false }: Line): Point[] {
  const steps = Array.from({ length: 101 }, (_, index) => index / 100);
  return points.slice(1).flatMap((to, index) => {
    const from = points[index] ?? to;
    const middle = (from.y + to.y) / 2;
    return steps.map((part): Point => {
      const rest = 1 - part;
      if (!curved) return { x: rest * from.x + part * to.x, y: rest * from.y + part * to.y };
      const [near, far] = [rest ** 3 + 3 * rest ** 2 * part, part ** 3 + 3 * rest * part ** 2];
      const bend = (3 * rest ** 2 * part + 3 * rest * part ** 2) * middle;
      return { x: near * from.x + far * to.x, y: rest ** 3 * from.y + part ** 3 * to.y + bend };
    });
  });
}

/** Returns the texts through which a line goes. A box that is drawn later hides a line. */
export const findCrossedTexts = ({ shapes }: Picture): readonly string[] =>
  shapes.filter(isLabel).flatMap((label) => {
    const area = areaOf(label);
    const place = shapes.indexOf(label);
    const crossed = shapes.some((shape, index) => {
      if (!isLine(shape)) return false;
      const covers = shapes
        .slice(index + 1, Math.max(index + 1, place))
        .filter((one): one is Box => isBox(one) && contains(one, area));
      return (
        covers.length === 0 &&
        pointsOn(shape).some((point) => overlap(area, { ...point, width: 0.1, height: 0.1 }))
      );
    });
    return crossed ? [`a line crosses "${label.text}"`] : [];
  });

/** Returns all problems of the layout. */
export const findLayoutProblems = (picture: Picture): readonly string[] => [
  ...findOverlappingBoxes(picture),
  ...findTextsOutside(picture),
  ...findOverlappingTexts(picture),
  ...findCrossedTexts(picture),
];

/** Returns the names of all data that the picture shows. */
export const listShown = ({ shapes }: Picture): readonly string[] => [
  ...new Set(shapes.flatMap(({ shows = [] }) => shows)),
];

/** Returns whether docs/pictures has this picture under this file name. */
export const isCurrent = (file: string, picture: Picture): boolean =>
  readFileSync(join(getPackageRoot(), "docs", "pictures", file), "utf8") === renderPicture(picture);
