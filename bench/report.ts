export interface Row {
  name: string;
  value: number;
  goal: number;
  /** Which side of the goal is good. */
  better?: 'higher' | 'lower';
}

/** Prints one line for each row and returns whether all of them reach their goals. */
export const report = (rows: readonly Row[]): boolean => {
  let isFine = true;
  for (const { name, value, goal, better = 'higher' } of rows) {
    console.log(`ratio ${name} ${value.toPrecision(3)} goal ${better === 'higher' ? '>=' : '<='} ${goal}`);
    if (better === 'higher' ? value < goal : value > goal) isFine = false;
  }
  return isFine;
};
