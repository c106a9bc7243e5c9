import { readFileSync } from 'node:fs';

/** The text of a small file of the kernel; empty where there is none, as on other systems than Linux. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
};
