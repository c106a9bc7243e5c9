import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hasSection, taggedVersion } from './release-version.ts';

it('the version of a release is that of the tag on its commit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-tag-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.test', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) => execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' });
  expect(taggedVersion(folder)).toBeUndefined();
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('tag', 'vacation');
  expect(taggedVersion(folder)).toBeUndefined();
  git('tag', 'v1.20.3');
  expect(taggedVersion(folder)).toBe('1.20.3');
  git('commit', '-q', '--allow-empty', '-m', 'second');
  expect(taggedVersion(folder)).toBeUndefined();
});

it('a changelog has a section for a version, not for one that begins like it', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n## 1.20.3 (2026-11-18)\n';
  expect(['1.20.3', '1.20', '1.2', '20.3'].map((version) => hasSection(changelog, version))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
