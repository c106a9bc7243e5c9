import { describe, expect, it } from 'vitest';
import { assertTexts, usesOf } from './content.ts';

const issuesOf = (work: () => void) => {
  try {
    work();
  } catch (error) {
    return (error as { data: { issues: { path: string }[] } }).data.issues;
  }
  return [];
};

describe('cells of a body', () => {
  it('are texts, in rows that are arrays', () => {
    expect(issuesOf(() => assertTexts({ rows: [['a', '']], values: ['b'] }))).toEqual([]);
    expect(issuesOf(() => assertTexts({ rows: null }))).toEqual([]);
    const issues = issuesOf(() => assertTexts({ rows: [['a', null], { 0: 'a' }], values: ['b', 7] }));
    expect(issues.map(({ path }) => path)).toEqual(['/values/1', '/rows/0/1', '/rows/1']);
  });

  it('are looked at no further than a hundred problems', () => {
    let looked = 0;
    const row = new Proxy([1], {
      get: (target, name) => {
        if (name === '0') looked += 1;
        return Reflect.get(target, name);
      },
    });
    const rows = Array.from({ length: 100_000 }, () => row);
    expect(issuesOf(() => assertTexts({ rows }))).toHaveLength(100);
    expect(looked).toBe(100);
    expect(issuesOf(() => assertTexts({ values: Array.from({ length: 1_000_000 }, () => 1) }))).toHaveLength(100);
  });
});

describe('a dictionary uses', () => {
  it('the file it reads, the certificates its protocol shows, and nothing else', () => {
    expect(usesOf({ type: 'file', config: { $source: { fileID: 12 } } })).toEqual([{ kind: 'file', id: 12 }]);
    const supplicant = { method: 'tls', certificateID: 3, caCertificateID: 4 };
    expect(usesOf({ type: 'protocol.dot1x', config: { supplicant } })).toEqual([
      { kind: 'certificate', id: 3 },
      { kind: 'certificate', id: 4 },
    ]);
    expect(usesOf({ type: 'table', config: { certificateID: { trim: true } } })).toEqual([]);
  });
});
