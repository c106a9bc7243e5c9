/** The name of a number in a table of names. */
export const nameIn = (names: Readonly<Record<string, number>>, value: number): string =>
  Object.keys(names).find((name) => names[name] === value) ?? String(value);
