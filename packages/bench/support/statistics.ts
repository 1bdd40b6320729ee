const sorted = (values: readonly number[]): number[] => [...values].sort((one, two) => one - two);

export const getLeast = (values: readonly number[]): number => sorted(values)[0] ?? 0;

export function getMedian(values: readonly number[]): number {
  const half = (values.length - 1) / 2;
  const [low = 0, high = 0] = [Math.floor(half), Math.ceil(half)].map((at) => sorted(values)[at]);
  return (low + high) / 2;
}

/** Figures of one run, by name. */
export type Figures = Readonly<Record<string, number>>;

const shown = (value: number): string => String(Math.round(value * 10) / 10);

/**
 * Returns one row for each figure: for each column, the minimum, the median, and the ratio of the
 * minimum to the minimum of the first column.
 */
export function renderFigureRows(columns: readonly (readonly Figures[])[]): string[][] {
  const names = [...new Set(columns.flatMap((runs) => runs.flatMap(Object.keys)))];
  return names.map((name) => {
    const all = columns.map((runs) => runs.flatMap((one) => one[name] ?? []));
    const first = getLeast(all[0] ?? []);
    return [
      name,
      ...all.flatMap((values, index) => [
        values.length === 0 ? "-" : `${shown(getLeast(values))} / ${shown(getMedian(values))}`,
        ...(index === 0 ? [] : [ratio(getLeast(values), first, values.length)]),
      ]),
    ];
  });
}

const ratio = (value: number, first: number, count: number): string =>
  count === 0 || first === 0 ? "-" : (value / first).toFixed(2);
