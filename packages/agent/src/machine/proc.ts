import { readFileSync } from 'node:fs';

/** The content of a file in /proc or /sys; empty if there is none, as on other systems than Linux. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
};
