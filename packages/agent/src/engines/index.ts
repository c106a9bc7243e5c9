import type { Engine } from '../engine.ts';
import { http } from './http/index.ts';

/** Every engine this agent can run. Adding an engine is adding a folder and a line here. */
const all: readonly Engine[] = [http];

export const engines: ReadonlyMap<string, Engine> = new Map(all.map((engine) => [engine.id, engine]));
