import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of this agent's package. */
export const packageFolder = fileURLToPath(new URL('..', import.meta.url));

export const agentVersion = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
