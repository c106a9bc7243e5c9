import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesIn, tarOf } from './tar.ts';

describe('tar', () => {
  it('returns every file it was given', () => {
    const part = fc.stringMatching(/^[a-z0-9._-]{1,30}$/);
    const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
    const file = fc.record({ name, content: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)) });
    fc.assert(
      fc.property(fc.array(file, { maxLength: 5 }), (files) => {
        expect([...filesIn(tarOf(files))]).toEqual(files);
      }),
    );
  });

  it("reads archives of the system's tar, long names too, and rejects links", () => {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-tar-'));
    try {
      const long = `${'a'.repeat(140)}.txt`;
      writeFileSync(join(folder, long), 'long');
      for (const format of ['ustar', 'gnu', 'pax']) {
        if (format === 'ustar') writeFileSync(join(folder, 'short'), 'short');
        const names = format === 'ustar' ? ['short'] : ['short', long];
        const tar = execFileSync('tar', ['-C', folder, `--format=${format}`, '-cf', '-', ...names]);
        expect([...filesIn(tar)].map(({ name }) => name)).toEqual(names);
      }
      symlinkSync('/etc/passwd', join(folder, 'link'));
      const tar = execFileSync('tar', ['-C', folder, '-cf', '-', 'link']);
      expect(() => [...filesIn(tar)]).toThrow('link is neither a file nor a folder');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('detects damage and truncation', () => {
    const tar = tarOf([{ name: 'a', content: Buffer.alloc(600, 1) }]);
    const damaged = Buffer.from(tar);
    damaged[3] = 65;
    expect(() => [...filesIn(damaged)]).toThrow('damaged');
    expect(() => [...filesIn(tar.subarray(0, 800))]).toThrow('truncated');
  });
});
