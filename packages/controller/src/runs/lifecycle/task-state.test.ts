import { isActive, isTerminal, runStatus, type Status, statusNameOf } from '@rushhour/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedFrom, mayMove, type Trigger, transitionOf, transitions } from './task-state.ts';

const statuses = Object.values(runStatus);

// Rows: from; columns: to 0..9. Written by hand, so that a change of the table fails here.
const table = [
  '.1........',
  '..2.....89',
  '.1.3..6..9',
  '.1..4.6..9',
  '.....56...',
  '....4.6...',
  '.......789',
  '01........',
  '01........',
  '01........',
];

describe('the table of states', () => {
  const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const));

  it.each(pairs)('from %i to %i', (from, to) => {
    expect(mayMove(from, to)).toBe(table[from]?.[to] !== '.');
  });

  it('names what may follow', () => {
    expect(allowedFrom(runStatus.running)).toEqual([runStatus.paused, runStatus.stopping]);
    expect(allowedFrom(42)).toEqual([]);
  });

  it('knows which states are active and which are the end', () => {
    expect(statuses.filter(isActive)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(statuses.filter(isTerminal)).toEqual([7, 8, 9]);
    expect(statusNameOf(6)).toBe('stopping');
    expect(statusNameOf(10)).toBeUndefined();
  });
});

const triggers = transitions.map(({ trigger }) => trigger);

/** Like the store: a trigger that does not fit the state changes nothing. */
const apply = (status: Status, trigger: Trigger): Status => {
  const { from, to } = transitionOf(trigger);
  return from.includes(status) ? to : status;
};

describe('any sequence of triggers', () => {
  it('moves only along the table', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...triggers), { maxLength: 60 }), (sequence) => {
        let status: Status = runStatus.created;
        for (const trigger of sequence) {
          const next = apply(status, trigger);
          expect(next === status || mayMove(status, next)).toBe(true);
          status = next;
        }
      }),
    );
  });

  it('can always be stopped: a stop and what follows from it ends every active run', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...triggers), { maxLength: 60 }),
        fc.constantFrom<Trigger>('finish', 'endEarly', 'break'),
        (sequence, ending) => {
          const reached = sequence.reduce<Status>(apply, runStatus.created);
          fc.pre(isActive(reached));
          const stopped = ['withdraw', 'stop', ending].reduce<Status>((s, t) => apply(s, t as Trigger), reached);
          expect(isTerminal(stopped)).toBe(true);
        },
      ),
    );
  });
});
