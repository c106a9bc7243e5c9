import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyzeApplication, recordedSession } from '../captures/analyze-job.ts';
import { libraryVersion } from '../ensure-library.ts';
import { issuesOfParameters } from '../parameter.ts';
import { libraryApplications } from './library-applications.ts';
import { type LibraryRecords, libraryRecords, versionOf } from './library-records.ts';
import { channelsOf } from './script.ts';

let records: LibraryRecords;
beforeAll(() => {
  records = libraryRecords();
});

describe('the applications of the library', () => {
  it('are at least sixty, each with a name, a description and tags of its own', () => {
    expect(libraryApplications.length).toBeGreaterThanOrEqual(60);
    expect(new Set(libraryApplications.map(({ name }) => name)).size).toBe(libraryApplications.length);
    for (const { description, tags } of libraryApplications) {
      expect(description).toMatch(/\.$/);
      expect(tags).toMatch(/^library(,[a-z0-9-]+)+$/);
    }
  });

  it('are stored again when anything in them changes', () => {
    expect(libraryVersion).toBe(versionOf(records));
  });

  it('are the same in every build', () => {
    expect(versionOf(libraryRecords())).toBe(versionOf(records));
  });

  it('begin so that a server knows which one comes to its port', () => {
    const beginnings = libraryApplications.flatMap((application) =>
      channelsOf(application).map(({ protocol, port }, index) => {
        const channel = channelsOf(application)[index];
        const first = application.steps.find((step) => step.channel === channel);
        const words = first?.side === 'client' ? Buffer.from(first.bytes).toString('base64') : '';
        return `${protocol} ${port} ${words}`;
      }),
    );
    const known = beginnings.filter((beginning, index) => beginnings.indexOf(beginning) !== index);
    expect(known).toEqual([]);
  });

  it('can be played, with the sessions that their capture has and parameters that fit', async () => {
    const { applications, capture } = records;
    const parameters = applications.flatMap(({ parameters }, index) =>
      parameters.map((parameter) => ({ ...parameter, name: `${index} ${parameter.name}` })),
    );
    expect(issuesOfParameters(parameters)).toEqual([]);
    const job = { clientIp: '', mode: 'stateful', parameters, sessions: undefined, options: {} };
    const outcome = await analyzeApplication([capture], job);
    expect(outcome.issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    const stored = applications.flatMap(({ sessions }) => sessions);
    expect(outcome.chosen.map((session) => ({ ...recordedSession(session), name: '' }))).toEqual(
      stored.map((session) => ({ ...session, name: '' })),
    );
  });
});

describe('tshark', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-library-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const protocols = new Map<number, Set<string>>();
  const malformed: string[] = [];

  beforeAll(async () => {
    const file = join(folder, 'library.pcap');
    writeFileSync(file, libraryRecords().capture);
    const fields = ['ip.src', 'ip.dst', 'frame.protocols'].flatMap((field) => ['-e', field]);
    // This release of tshark expects TLS on the port of MongoDB.
    const options = ['-n', '-r', file, '-d', 'tcp.port==27017,mongo', '-T', 'fields', ...fields];
    const { stdout } = await promisify(execFile)('tshark', options, { maxBuffer: 64 * 1024 * 1024 });
    for (const line of stdout.trim().split('\n')) {
      const [source = '', destination = '', layers = ''] = line.split('\t');
      const server = source.startsWith('10.2.') ? source : destination;
      const index = Number(server.split('.')[3]) - 1;
      const known = protocols.get(index) ?? new Set();
      for (const layer of layers.split(':')) known.add(layer);
      protocols.set(index, known);
      if (layers.includes('malformed')) malformed.push(`${libraryApplications[index]?.name}: ${layers}`);
    }
  }, 120_000);

  it.each(libraryApplications.map((application, index) => [application.name, application, index] as const))(
    'recognises "%s"',
    (_, { recognisedAs }, index) => {
      expect([...(protocols.get(index) ?? [])]).toContain(recognisedAs);
    },
  );

  it('finds no malformed packet', () => {
    expect(malformed).toEqual([]);
  });
});
