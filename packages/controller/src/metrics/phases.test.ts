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

const phasesWith = (...phases: ('rampUp' | 'steady' | 'rampDown')[]) => {
  const known = new Phases({
    sides: new Map([
      [2, client],
      [3, server],
    ]),
  });
  for (const [at, phase] of phases.entries()) known.note(client.group, at + 1, phase);
  return known;
};

describe('the steady seconds', () => {
  it('of a server are those of its clients', () => {
    const phases = phasesWith('rampUp', 'steady', 'steady', 'rampDown');
    expect([1, 2, 3, 4].map((second) => phases.steadySecond(server, second))).toEqual([undefined, 2, 3, undefined]);
  });

  it('of a server take what comes in after the last second of its clients', () => {
    expect(phasesWith('steady', 'steady').steadySecond(server, 3)).toBe(2);
    expect(phasesWith('steady', 'rampDown').steadySecond(server, 3)).toBeUndefined();
  });

  it('of a client are its own alone', () => {
    expect(phasesWith('steady', 'steady').steadySecond(client, 3)).toBeUndefined();
  });
});
