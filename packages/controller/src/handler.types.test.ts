import type { api } from '@rushhour/contract';
import { expect, it } from 'vitest';
import type { Handlers } from './handler.ts';

// Checked by the compiler: each line marked below must fail to compile, or the check itself fails.
const version = {
  data: {
    name: '',
    version: '',
    apiVersion: '',
    commit: '',
    builtAt: '',
    node: '',
    schemaVersion: 1,
    features: [],
    licence: '',
  },
};
const checks = { db: 'ok', storage: 'ok', agentChannel: 'ok', scheduler: 'ok' } as const;
const complete = {
  health: () => ({ data: { status: 'ok' as const, now: '', uptimeSec: 1, checks } }),
  version: () => version,
  permissions: () => ({}),
};

export const fine: Handlers<typeof api.meta> = complete;

const { version: _, ...withoutVersion } = complete;
// @ts-expect-error a missing handler
export const missing: Handlers<typeof api.meta> = withoutVersion;

// @ts-expect-error a misspelt handler
export const misspelt: Handlers<typeof api.meta> = { ...withoutVersion, versoin: () => version };

// @ts-expect-error an incomplete reply
export const incomplete: Handlers<typeof api.meta> = { ...complete, version: () => ({ data: { name: '' } }) };

it('a complete set of handlers compiles; a missing or misspelt one, or an incomplete reply, does not', () => {
  expect(Object.keys(fine)).toEqual(['health', 'version', 'permissions']);
});
