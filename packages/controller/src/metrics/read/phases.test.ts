import { describe, expect, it } from 'vitest';
import { Phases } from './phases.ts';
import type { Side } from './run-facts.ts';

const side = (group: number, role: Side['role']): Side => ({
  group,
  role,
  entry: 0,
  pluginId: 1,
  plugin: 'http',
  engine: 'http',
});
const client = side(2, 'client');
const server = side(3, 'server');

const phasesWith = (...phases: ('rampUp' | 'steady' | 'short' | 'rampDown' | 'windDown' | 'paused')[]) => {
  const known = new Phases({
    sides: new Map([
      [2, client],
      [3, server],
    ]),
  });
  for (const [at, name] of phases.entries()) {
    const phase = name === 'short' ? 'steady' : name;
    known.note(client.group, at + 1, { phase, isWhole: name !== 'short' });
  }
  return known;
};

describe('the steady seconds', () => {
  it('of a server are those of its clients', () => {
    const phases = phasesWith('rampUp', 'steady', 'steady', 'rampDown');
    expect([1, 2, 3, 4].map((second) => phases.steadySecond(server, second)?.second)).toEqual([
      undefined,
      2,
      3,
      undefined,
    ]);
  });

  it('do not include a pause; what arrives during it belongs to the second before', () => {
    const phases = phasesWith('steady', 'steady', 'paused', 'paused', 'steady', 'paused');
    expect([2, 3, 4, 5, 6].map((second) => phases.steadySecond(client, second)?.second)).toEqual([2, 2, 2, 5, 5]);
    expect(phases.newest).toBe('steady');
  });

  it('include a short one after a stall of the generator, unless it is the last', () => {
    const seconds = [1, 2, 3, 4].map(
      (second) => phasesWith('steady', 'short', 'steady', 'short').steadySecond(client, second)?.second,
    );
    expect(seconds).toEqual([1, 2, 3, 3]);
    expect(phasesWith('steady', 'short').steadySecond(client, 2)).toEqual({ second: 1, countsTime: true });
    expect(phasesWith('steady', 'windDown').steadySecond(client, 2)).toEqual({ second: 1, countsTime: false });
  });

  it('take what comes in after the last whole one', () => {
    for (const side of [client, server]) {
      expect(phasesWith('steady', 'steady', 'windDown').steadySecond(side, 3)?.second).toBe(2);
      expect(phasesWith('steady', 'steady').steadySecond(side, 3)?.second).toBe(2);
      expect(phasesWith('steady', 'rampDown', 'windDown').steadySecond(side, 3)).toBeUndefined();
    }
  });
});
