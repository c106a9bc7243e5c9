import { describe, expect, it } from 'vitest';
import { findMarkers, withMarkersFilled } from './markers.ts';

const task = {
  configuration: [
    { values: { sources: [{ agent: { id: { $slot: 'client' } } }], 'odd/name': { $param: 'rps' }, flag: false } },
  ],
};

describe('markers of a template', () => {
  it('are found with their places', () => {
    expect(findMarkers(task)).toEqual({
      markers: [
        { path: '/configuration/0/values/sources/0/agent/id', kind: 'slot', name: 'client' },
        { path: '/configuration/0/values/odd~1name', kind: 'param', name: 'rps' },
      ],
      issues: [],
    });
  });

  it('are refused when they are more or less than a name', () => {
    const { markers, issues } = findMarkers({
      a: { $slot: 'x', more: 1 },
      b: { $param: 3 },
      c: { $param: 'not a name' },
      d: { $slot: 'a', $param: 'b' },
    });
    expect(markers).toEqual([]);
    expect(issues.map(({ path, code }) => [path, code])).toEqual([
      ['/a', 'BAD_MARKER'],
      ['/b', 'BAD_MARKER'],
      ['/c', 'BAD_MARKER'],
      ['/d', 'BAD_MARKER'],
    ]);
  });

  it('give way to values, falsy ones too, and the template stays as it is', () => {
    const before = structuredClone(task);
    const filled = withMarkersFilled(task, ({ kind }) => (kind === 'slot' ? 7 : false));
    expect(filled).toEqual({
      configuration: [{ values: { sources: [{ agent: { id: 7 } }], 'odd/name': false, flag: false } }],
    });
    expect(task).toEqual(before);
  });

  it('stay where there is nothing to put', () => {
    expect(withMarkersFilled(task, () => undefined)).toEqual(task);
  });
});
