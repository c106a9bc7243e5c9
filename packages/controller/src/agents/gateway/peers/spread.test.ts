import { describe, expect, it } from 'vitest';
import { agentsToMove } from './spread.ts';

const calm = (agents: number) => ({ agents, busyShare: 0.2 });

describe('a controller asks agents to connect elsewhere', () => {
  it('when it has far more than the others, until all have about the same', () => {
    expect(agentsToMove(calm(90), [calm(0), calm(0)])).toBe(60);
    expect(agentsToMove(calm(40), [calm(30), calm(30)])).toBe(0);
    expect(agentsToMove(calm(4000), [calm(4100), calm(3500)])).toBe(0);
    expect(agentsToMove(calm(10_000), [calm(0), calm(0)])).toBe(200);
  });

  it('a few at a time when it is overloaded and another one is not', () => {
    const busy = { agents: 100, busyShare: 0.95 };
    expect(agentsToMove(busy, [calm(100)])).toBe(10);
    expect(agentsToMove(busy, [busy])).toBe(0);
  });

  it('never when it is alone', () => {
    expect(agentsToMove({ agents: 5000, busyShare: 1 }, [])).toBe(0);
  });
});
